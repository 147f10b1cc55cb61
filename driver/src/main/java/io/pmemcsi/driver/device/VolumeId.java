package io.pmemcsi.driver.device;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The name of a volume on this node: logical volume, namespace, state file and CSI volume id alike.
 *
 * <p>Ids that older releases wrote (UUIDs, longer hashes) are taken as they are, as long as they
 * can be a file name and an LVM name.
 */
public record VolumeId(String value) implements Comparable<VolumeId> {

  private static final Pattern VALID = Pattern.compile("[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,126}");
  private static final Pattern FROM_NAME = Pattern.compile("[A-Za-z0-9_+.-]{1,6}-[0-9a-f]{56}");
  private static final int PREFIX = 6;

  /** Those of the words in lvm(8) that fit into the beginning of an id, inside of names. */
  private static final List<String> RESERVED =
      List.of(
          "_cdata", "_cmeta", "_corig", "_cpool", "_cvol", "_imeta", "_iorig", "_mlog", "_rmeta",
          "_tdata", "_tmeta", "_vdata");

  public VolumeId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("not a volume id: \"" + value + "\"");
    }
  }

  /** The id that a volume name always leads to, on every node and after every restart. */
  public static VolumeId fromName(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    StringBuilder id = new StringBuilder();
    for (int i = 0; i < Math.min(PREFIX, bytes.length); i++) {
      char c = (char) (bytes[i] & 0xff);
      // CSI names may hold anything; LVM and file names may not, and may not begin with a hyphen
      boolean good = isNameCharacter(c) && !(i == 0 && c == '-');
      id.append(good ? c : '_');
    }
    return new VolumeId(unreserved(id.toString()) + '-' + sha224(bytes));
  }

  /** LVM refuses names with the words that it reserves for its own. */
  private static String unreserved(String prefix) {
    String free = RESERVED.stream().anyMatch(prefix::contains) ? prefix.replace('_', '.') : prefix;
    return free.startsWith("pvmove") ? '_' + free.substring(1) : free;
  }

  /** The ID if the text can be one; anything else is not the ID of a volume. */
  public static Optional<VolumeId> parse(String text) {
    return isValid(text) ? Optional.of(new VolumeId(text)) : Optional.empty();
  }

  /** Whether it has the form of those of {@link #fromName}. */
  public boolean isFromName() {
    return FROM_NAME.matcher(value).matches();
  }

  private static boolean isValid(String text) {
    return VALID.matcher(text).matches() && !text.equals(".") && !text.equals("..");
  }

  private static boolean isNameCharacter(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "_+.-".indexOf(c) >= 0;
  }

  private static String sha224(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-224").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-224", e);
    }
  }

  @Override
  public int compareTo(VolumeId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
