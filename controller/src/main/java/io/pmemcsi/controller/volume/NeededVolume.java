package io.pmemcsi.controller.volume;

/**
 * A volume that has to be created on the node that the pod gets.
 *
 * @param key the claim's key, or one that is made of the pod and the volume's name
 */
public record NeededVolume(String key, long bytes) {

  /** The key of an inline volume. */
  public static String inlineKey(String pod, String volume) {
    return "pod " + pod + "/" + volume;
  }
}
