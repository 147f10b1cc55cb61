package io.pmemcsi.controller.volume;

/**
 * A volume that has to be created on the node that the pod gets.
 *
 * @param key the claim's key, or one that is made of the pod and the volume's name
 * @param numaNode the NUMA node whose memory it must be in, normalized; empty for any
 */
public record NeededVolume(String key, long bytes, String numaNode) {

  public NeededVolume {
    NumaNode.check(numaNode);
  }

  /** A volume in the memory of any NUMA node. */
  public NeededVolume(String key, long bytes) {
    this(key, bytes, "");
  }

  /** The key of an inline volume. */
  public static String inlineKey(String pod, String volume) {
    return "pod " + pod + "/" + volume;
  }
}
