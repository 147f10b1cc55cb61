package io.pmemcsi.driver.device.ndctl;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A piece of a region.
 *
 * @param device the kernel's name for it, good until the next boot only
 * @param uuid what its label calls it for ever, empty where there is none
 * @param name the name that its creator gave it, empty where there is none
 * @param rawBytes how much memory it takes
 * @param usableBytes how much of that its block device offers
 * @param blockDevice where it is active and has a block device
 */
public record Namespace(
    String device,
    String uuid,
    String name,
    NamespaceMode mode,
    long rawBytes,
    long usableBytes,
    Optional<Path> blockDevice) {

  /** Whether there is memory in it: the kernel always keeps an empty one as a seed. */
  public boolean isReal() {
    return rawBytes > 0;
  }

  /** Whether its creation is complete; until then the kernel shows it as raw. */
  public boolean isVolume() {
    return mode == NamespaceMode.FSDAX || mode == NamespaceMode.SECTOR;
  }
}
