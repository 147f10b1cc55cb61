package io.pmemcsi.driver.device.direct;

import io.pmemcsi.base.names.DriverName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.UUID;

/**
 * The UUIDs that a driver gives to its namespaces, which distinguish them from those of another
 * driver on the node: the label of a namespace has a name and a UUID, and the name is the volume's.
 *
 * <p>The first half is random, the second a hash of the driver's name, and the version is 8, which
 * RFC 9562 leaves to applications. Namespaces of earlier releases have random UUIDs of version 4.
 */
final class OwnerUuid {
  private static final int VERSION = 8;
  private static final long VARIANT = 1L << 63;

  private final long owner;

  OwnerUuid(DriverName driver) {
    this.owner = (hash(driver.value()) >>> 2) | VARIANT;
  }

  /** For a new namespace. */
  UUID create() {
    long random = UUID.randomUUID().getMostSignificantBits();
    return new UUID((random & ~0xf000L) | (VERSION << 12), owner);
  }

  /** Whether a namespace was created by another driver. */
  boolean isOfAnother(String uuid) {
    return parse(uuid)
        .filter(id -> id.variant() == 2 && id.version() == VERSION)
        .filter(id -> id.getLeastSignificantBits() != owner)
        .isPresent();
  }

  private static Optional<UUID> parse(String uuid) {
    try {
      return Optional.of(UUID.fromString(uuid));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // a region without labels has none
    }
  }

  private static long hash(String name) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
