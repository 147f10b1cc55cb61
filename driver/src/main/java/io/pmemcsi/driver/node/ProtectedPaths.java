package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.libc.FileSpace;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Paths where the driver neither mounts nor unmounts, nor removes a mount point, because it would
 * harm itself: its state, its socket, its program and tools, and the filesystems of the kernel.
 */
public final class ProtectedPaths {

  private static final Path DEVICES = Path.of("/dev");

  /**
   * Types as statfs(2) reports them: proc, sysfs, devpts, cgroup and cgroup2, debugfs, tracefs,
   * securityfs, configfs, bpf, pstore, efivarfs, mqueue, binfmt_misc, fusectl, nsfs, selinuxfs,
   * hugetlbfs.
   */
  private static final Set<Long> KERNEL =
      Set.of(
          0x9fa0L,
          0x62656572L,
          0x1cd1L,
          0x27e0ebL,
          0x63677270L,
          0x64626720L,
          0x74726163L,
          0x73636673L,
          0x62656570L,
          0xcafe4a11L,
          0x6165676cL,
          0xde5e81e4L,
          0x19800202L,
          0x42494e4dL,
          0x65735543L,
          0x6e736673L,
          0xf97cff8cL,
          0x958458f6L);

  private final Path state;
  private final List<Path> needed;

  /**
   * @param state the state directory
   * @param socket where the driver is called
   */
  public ProtectedPaths(Path state, Path socket) {
    this.state = state;
    this.needed =
        Stream.concat(
                Stream.of(state, socket.toAbsolutePath()),
                Stream.of(
                        Stream.of("/proc", "/sys", "/dev", System.getProperty("java.home")),
                        split(System.getProperty("java.class.path", "")),
                        split(System.getenv().getOrDefault("PATH", "")))
                    .flatMap(paths -> paths)
                    .filter(path -> path.startsWith("/"))
                    .map(Path::of))
            .map(ProtectedPaths::withoutLinks)
            .toList();
  }

  private static Stream<String> split(String paths) {
    return Stream.of(paths.split(File.pathSeparator, -1));
  }

  /** Throws for a protected path. */
  void refuse(Path path) {
    if (path.startsWith(state)) {
      throw refused(path, "is in the state directory of the driver");
    }
    for (Path used : needed) {
      if (used.startsWith(path)) {
        throw refused(path, "would hide %s from the driver".formatted(used));
      }
    }
    Path parent = path.getParent();
    if (parent != null && Files.isDirectory(parent) && isKernel(parent)) {
      throw refused(path, "is on a filesystem of the kernel");
    }
  }

  private static boolean isKernel(Path directory) {
    try {
      // devtmpfs has the type of tmpfs
      return KERNEL.contains(FileSpace.typeOf(directory) & 0xffff_ffffL)
          || Files.getAttribute(directory, "unix:dev")
              .equals(Files.getAttribute(DEVICES, "unix:dev"));
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "cannot find out what filesystem %s is on: %s".formatted(directory, Reason.of(e)));
    }
  }

  private static VolumeException refused(Path path, String why) {
    return new VolumeException.InvalidRequest(
        "%s %s: name a path below the directory of kubelet".formatted(path, why));
  }

  private static Path withoutLinks(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path; // it does not exist yet, or not any more
    }
  }
}
