package io.pmemcsi.driver.device;

import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Commands that create or change devices and run at this moment. They outlive a driver that is
 * killed, so that a device may appear, or be formatted, after the call that requested it has ended.
 *
 * @param processes where the kernel shows them
 */
public record OrphanedCommands(Path processes) {

  /** Those of this machine, or of this container: in another one they die with their driver. */
  public static final OrphanedCommands HERE = new OrphanedCommands(Path.of("/proc"));

  /**
   * The commands of this driver that write to a device or mount it; wrappers have them as an
   * argument.
   */
  private static final Set<String> WRITERS =
      Set.of(
          "mount",
          "mkfs.ext4",
          "mkfs.xfs",
          "wipefs",
          "resize2fs",
          "e2fsck",
          "tune2fs",
          "xfs_admin",
          "xfs_db");

  /** What the JVM starts first: it becomes the command. */
  private static final String STARTER = "jspawnhelper";

  /** The argument that names the device in each of these commands. */
  public static String nameOption(String name) {
    return "--name=" + name;
  }

  /** Whether one of them runs for a volume. */
  public boolean isCreating(VolumeId id) {
    return isRunningWith(nameOption(id.value()));
  }

  /**
   * The command that may write to a device, if one runs. It need not have opened the device yet, so
   * the kernel does not report the device as busy.
   */
  public Optional<String> writerOf(Path device) {
    return list(all -> writerOf(device, all));
  }

  /** The same among these processes only. */
  static Optional<String> writerOf(Path device, Stream<Path> processes) {
    return processes
        .map(OrphanedCommands::arguments)
        .filter(arguments -> arguments.contains(device.toString()))
        .flatMap(List::stream)
        .map(OrphanedCommands::program)
        .filter(WRITERS::contains)
        .findFirst();
  }

  /** The processes that write to a device, or may become such a command. */
  Set<Path> writers() {
    return list(
        all ->
            all.filter(
                    process ->
                        arguments(process).stream()
                            .map(OrphanedCommands::program)
                            .anyMatch(name -> WRITERS.contains(name) || name.equals(STARTER)))
                .collect(Collectors.toSet()));
  }

  private static String program(String argument) {
    return argument.substring(argument.lastIndexOf('/') + 1);
  }

  /** Whether a process has this argument. */
  public boolean isRunningWith(String option) {
    return argument(option::equals).isPresent();
  }

  /** An argument of a process that fulfils a condition, if one does. */
  public Optional<String> argument(Predicate<String> condition) {
    return list(
        all -> all.flatMap(process -> arguments(process).stream()).filter(condition).findFirst());
  }

  private <T> T list(Function<Stream<Path>, T> search) {
    try (Stream<Path> all = Files.list(processes)) {
      return search.apply(all);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot list running commands in %s: %s".formatted(processes, Reason.of(e)), e);
    }
  }

  private static List<String> arguments(Path process) {
    if (!Character.isDigit(process.getFileName().toString().charAt(0))) {
      return List.of();
    }
    try {
      String all = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      return List.of(all.split("\0"));
    } catch (IOException e) {
      return List.of(); // it has ended in this moment
    }
  }
}
