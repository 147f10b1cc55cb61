package io.pmemcsi.testbed.node;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The control groups below which kubelet has those of its pods. No namespace takes them along when
 * it ends, so they are removed explicitly, and those of runs that were killed by the next run.
 */
record Cgroups(String name) implements AutoCloseable {

  private static final Path ROOT = Path.of("/sys/fs/cgroup");
  private static final String PROCESSES = "cgroup.procs";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /**
   * Creates one in each hierarchy, or in the only one of version 2, named after the node's
   * directory; removes those whose directory does not exist any more.
   */
  static Cgroups create(Path directory) {
    hierarchies().forEach(hierarchy -> removeOrphans(hierarchy, directory.resolveSibling("")));
    Cgroups cgroups = new Cgroups(directory.getFileName().toString());
    try {
      for (Path hierarchy : hierarchies()) {
        Path group = Files.createDirectories(hierarchy.resolve(cgroups.name));
        // a new group of this kind has no processors, and no process can join it
        for (String file : List.of("cpuset.cpus", "cpuset.mems")) {
          if (Files.exists(hierarchy.resolve("tasks")) && Files.exists(group.resolve(file))) {
            Files.writeString(group.resolve(file), Files.readString(hierarchy.resolve(file)));
          }
        }
      }
      return cgroups;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create the control groups " + cgroups.name, e);
    }
  }

  @Override
  public void close() {
    hierarchies().forEach(hierarchy -> remove(hierarchy.resolve(name)));
  }

  /** All of version 1, and one of version 2 beside them, in which runc creates groups itself. */
  private static List<Path> hierarchies() {
    if (Files.exists(ROOT.resolve(PROCESSES))) {
      return List.of(ROOT);
    }
    try (Stream<Path> all = Files.list(ROOT)) {
      return all.filter(
              path -> !Files.isSymbolicLink(path) && Files.exists(path.resolve(PROCESSES)))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the control groups", e);
    }
  }

  private static void removeOrphans(Path hierarchy, Path directories) {
    try (Stream<Path> all = Files.list(hierarchy)) {
      all.filter(group -> group.getFileName().toString().startsWith(RealNode.KIND + "-"))
          .filter(group -> !Files.exists(directories.resolve(group.getFileName())))
          .forEach(Cgroups::remove);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the control groups", e);
    }
  }

  /** Processes that were killed leave their groups a moment later. */
  private static void remove(Path group) {
    await("removal of " + group)
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () -> {
              removeNow(group);
              return true;
            });
  }

  private static void removeNow(Path group) throws IOException {
    if (Files.exists(group)) {
      try (Stream<Path> all = Files.walk(group)) {
        for (Path path :
            all.filter(Files::isDirectory).sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      }
    }
  }
}
