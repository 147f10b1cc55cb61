package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.CsiStatusException.invalid;

import csi.v1.CapacityRange;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.node.Access;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeParameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/** Validates parts of requests and converts them to values. */
public final class Requests {

  /** The size limit that the CSI specification sets for such texts. */
  private static final int MAX_NAME = 128;

  private static final Pattern FLAG = Pattern.compile("[\\x21-\\x2b\\x2d-\\x7e]{1,256}");

  /**
   * kubelet quotes the SELinux label of a pod, whose categories are separated by commas. The quotes
   * keep kernel and mount(8) from splitting it.
   */
  private static final Pattern SELINUX_CONTEXT =
      Pattern.compile("(fs|def|root)?context=\"[\\x21\\x23-\\x7e]{1,256}\"");

  /** Options that would do something else than mounting this volume at that place. */
  private static final Set<String> FORBIDDEN_FLAGS =
      Set.of(
          "bind",
          "rbind",
          "remount",
          "move",
          "loop",
          "shared",
          "rshared",
          "slave",
          "rslave",
          "private",
          "rprivate",
          "unbindable",
          "runbindable",
          "user",
          "users",
          "owner",
          "group",
          "dax=never",
          "nodax",
          "dax=inode");

  private Requests() {}

  static String text(String field, String value) {
    if (value.isEmpty()) {
      throw invalid(field + " is missing");
    }
    return value;
  }

  public static String volumeId(String value) {
    return text("volume_id", value);
  }

  public static String name(String value) {
    text("name", value);
    if (value.length() > MAX_NAME) {
      throw invalid("name has %d characters, more than %d".formatted(value.length(), MAX_NAME));
    }
    if (value.chars().anyMatch(Requests::isForbiddenInNames)) {
      throw invalid("name has characters that are not allowed: " + escaped(value));
    }
    return value;
  }

  private static boolean isForbiddenInNames(int c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xfffe || c == 0xffff;
  }

  static Path path(String field, String value) {
    text(field, value);
    try {
      Path path = Path.of(value);
      if (!path.isAbsolute()) {
        throw invalid("%s \"%s\" is not an absolute path".formatted(field, value));
      }
      return path.normalize();
    } catch (InvalidPathException e) {
      throw invalid("%s \"%s\" is not a path".formatted(field, escaped(value)));
    }
  }

  /** A path where something is or will be mounted, as the kernel shows it. */
  static Path mountPoint(String field, String value) {
    Path path = withoutLinks(path(field, value));
    if (Files.isSymbolicLink(path)) {
      // the kernel would mount where the link leads to, and nothing would find that mount again
      throw invalid(
          "%s \"%s\" is a symbolic link: name the directory or file that it leads to"
              .formatted(field, escaped(value)));
    }
    return path;
  }

  /** Mount tables show what links lead to; the last name must not be one. */
  private static Path withoutLinks(Path path) {
    Path parent = path.getParent();
    try {
      return parent == null ? path : parent.toRealPath().resolve(path.getFileName());
    } catch (IOException e) {
      return path; // the mount fails later with the reason
    }
  }

  /** A path where a volume should be; one that cannot be is simply not found there. */
  static Path volumePath(String value) {
    text("volume_path", value);
    try {
      return withoutLinks(Path.of(value).normalize());
    } catch (InvalidPathException e) {
      throw CsiStatusException.notFound(
          "volume_path \"%s\" is not a path".formatted(escaped(value)));
    }
  }

  static Optional<Path> optionalMountPoint(String field, String value) {
    return value.isEmpty() ? Optional.empty() : Optional.of(mountPoint(field, value));
  }

  static SizeRange size(boolean given, CapacityRange range) {
    return given ? new SizeRange(range.getRequiredBytes(), range.getLimitBytes()) : SizeRange.ANY;
  }

  static Access access(boolean given, VolumeCapability capability) {
    if (!given) {
      throw invalid("volume_capability is missing");
    }
    return access(capability);
  }

  static Access access(VolumeCapability capability) {
    boolean single = isSingleWriter(capability.getAccessMode().getMode());
    return switch (capability.getAccessTypeCase()) {
      case BLOCK -> new Access.Block(single);
      case MOUNT -> {
        VolumeCapability.MountVolume mount = capability.getMount();
        yield new Access.Mount(type(mount.getFsType()), flags(mount), single);
      }
      case ACCESSTYPE_NOT_SET ->
          throw invalid("volume_capability.access_type is missing: use block or mount");
    };
  }

  private static boolean isSingleWriter(Mode mode) {
    return switch (mode) {
      case SINGLE_NODE_SINGLE_WRITER -> true;
      case SINGLE_NODE_WRITER, SINGLE_NODE_READER_ONLY, SINGLE_NODE_MULTI_WRITER -> false;
      case UNKNOWN -> throw invalid("volume_capability.access_mode is missing");
      case MULTI_NODE_READER_ONLY,
          MULTI_NODE_SINGLE_WRITER,
          MULTI_NODE_MULTI_WRITER,
          UNRECOGNIZED ->
          throw invalid(
              "volume_capability.access_mode %s is not supported: volumes are local to one node"
                  .formatted(mode));
    };
  }

  private static Optional<FilesystemType> type(String text) {
    if (text.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        FilesystemType.parse(text)
            .orElseThrow(
                () ->
                    invalid(
                        "volume_capability.mount.fs_type \"%s\" is not supported: use ext4 or xfs"
                            .formatted(escaped(text)))));
  }

  private static List<String> flags(VolumeCapability.MountVolume mount) {
    for (String flag : mount.getMountFlagsList()) {
      boolean forbidden = FORBIDDEN_FLAGS.contains(flag) || flag.startsWith("X-mount");
      boolean readable = FLAG.matcher(flag).matches() || SELINUX_CONTEXT.matcher(flag).matches();
      if (!readable || forbidden) {
        throw invalid(
            "volume_capability.mount.mount_flags \"%s\" is not allowed".formatted(escaped(flag)));
      }
    }
    return List.copyOf(mount.getMountFlagsList());
  }

  static VolumeParameters parameters(ParameterSource source, Map<String, String> written) {
    try {
      return source.parse(written);
    } catch (IllegalArgumentException e) {
      throw invalid(String.valueOf(e.getMessage()));
    }
  }

  /** The NUMA node that the parameters of a storage class ask for. */
  static OptionalInt numaNode(Map<String, String> storageClass) {
    try {
      return ParameterSource.requestedNumaNode(storageClass);
    } catch (IllegalArgumentException e) {
      throw invalid(String.valueOf(e.getMessage()));
    }
  }

  /** Bounds and escapes text of a request for messages and logs. */
  static String escaped(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .limit(MAX_NAME)
        .forEach(
            c -> {
              if (Character.isISOControl(c) || (c >= 0xd800 && c <= 0xdfff)) {
                out.append("\\u%04x".formatted(c));
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }
}
