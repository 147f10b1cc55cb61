package io.pmemcsi.controller.volume;

/**
 * The part of a StorageClass that scheduling needs.
 *
 * @param lateBinding whether volumes are provisioned only after a node was selected for the pod
 * @param numaNode the NUMA node whose memory volumes must be in; empty for any
 */
public record VolumeClass(String provisioner, boolean lateBinding, String numaNode) {

  /** The parameter of a storage class, and the attribute of an inline volume. */
  public static final String NUMA_NODE = "numaNode";
}
