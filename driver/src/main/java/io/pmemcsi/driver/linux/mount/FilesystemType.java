package io.pmemcsi.driver.linux.mount;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** The filesystems that support DAX, and the commands that create and expand them. */
public enum FilesystemType {
  EXT4(0),
  /** mkfs.xfs refuses anything smaller. */
  XFS(300L << 20);

  private static final long SMALL = 1L << 30;

  private final long minimumBytes;

  FilesystemType(long minimumBytes) {
    this.minimumBytes = minimumBytes;
  }

  /** The type with a name; an empty name stands for the default. */
  public static Optional<FilesystemType> parse(String text) {
    return switch (text) {
      case "", "ext4" -> Optional.of(EXT4);
      case "xfs" -> Optional.of(XFS);
      default -> Optional.empty();
    };
  }

  /** The name that mount and blkid use. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The smallest device that the filesystem can be created on. */
  public long minimumBytes() {
    return minimumBytes;
  }

  /**
   * The command that creates the filesystem on a volume: with blocks of one page, which DAX needs,
   * and files aligned to 2 MiB, which huge pages need.
   */
  public List<String> mkfs(Path device, long sizeBytes, UUID uuid) {
    List<String> argv = plainMkfs(uuid);
    argv.addAll(
        argv.size() - 1,
        switch (this) {
          case EXT4 -> List.of("-E", "stride=512,stripe_width=512");
          // with stripes xfs has eight allocation groups by default, and the log must fit into one
          case XFS -> List.of("-d", "su=2m,sw=1" + (sizeBytes < SMALL ? ",agcount=2" : ""));
        });
    argv.add(device.toString());
    return argv;
  }

  /** The same for a filesystem inside an image file, whose alignment is not known. */
  public List<String> mkfsForImage(Path file, UUID uuid) {
    List<String> argv = plainMkfs(uuid);
    argv.add(file.toString());
    return argv;
  }

  private List<String> plainMkfs(UUID uuid) {
    return new ArrayList<>(
        switch (this) {
          case EXT4 -> List.of("mkfs.ext4", "-q", "-b", "4096", "-U", uuid.toString(), "-F");
          case XFS ->
              List.of("mkfs.xfs", "-q", "-b", "size=4096", "-m", "reflink=0,uuid=" + uuid, "-f");
        });
  }

  /** The command that expands a mounted filesystem to the size of its device. */
  public List<String> expand(Path device, Path mountPoint) {
    return switch (this) {
      case EXT4 -> List.of("resize2fs", device.toString());
      case XFS -> List.of("xfs_growfs", "-d", mountPoint.toString());
    };
  }
}
