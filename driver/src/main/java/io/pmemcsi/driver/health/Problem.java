package io.pmemcsi.driver.health;

/**
 * Why a volume is abnormal.
 *
 * @param text what was observed and what to do, for the volume condition and for the audit
 */
public record Problem(Kind kind, String text) {

  /** What can happen to a volume that the driver has created completely. */
  public enum Kind {
    DEVICE_VANISHED,
    BAD_BLOCKS,
    READ_ONLY_FILESYSTEM,
    SHUT_DOWN_FILESYSTEM
  }
}
