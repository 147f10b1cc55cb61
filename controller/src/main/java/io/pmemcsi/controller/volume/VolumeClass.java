package io.pmemcsi.controller.volume;

/**
 * The part of a StorageClass that scheduling needs.
 *
 * @param lateBinding whether volumes are provisioned only after a node was selected for the pod
 */
public record VolumeClass(String provisioner, boolean lateBinding) {}
