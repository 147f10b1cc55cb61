package io.pmemcsi.controller.volume;

/**
 * The part of a PersistentVolumeClaim that scheduling needs; there may be tens of thousands.
 *
 * @param bound whether it has a volume
 * @param className the storage class; empty if the claim asks for none
 * @param bytes the requested size; 0 if the claim does not say
 * @param selectedNode the node for which the scheduler asked the volume to be provisioned; empty if
 *     it has not yet
 */
public record Claim(boolean bound, String className, long bytes, String selectedNode) {

  /** The key of a claim in caches and reservations. */
  public static String key(String namespace, String name) {
    return namespace + "/" + name;
  }
}
