package io.pmemcsi.driver.device;

import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Commands that create devices and run at this moment. They outlive a driver that is killed, so
 * that a device may appear after the call that requested it has ended.
 *
 * @param processes where the kernel shows them
 */
public record OrphanedCommands(Path processes) {

  /** Those of this machine, or of this container: in another one they die with their driver. */
  public static final OrphanedCommands HERE = new OrphanedCommands(Path.of("/proc"));

  /** The argument that names the device in each of these commands. */
  public static String nameOption(String name) {
    return "--name=" + name;
  }

  /** Whether one of them runs for a volume. */
  public boolean isCreating(VolumeId id) {
    return isRunningWith(nameOption(id.value()));
  }

  /** Whether a process has this argument. */
  public boolean isRunningWith(String option) {
    try (Stream<Path> all = Files.list(processes)) {
      return all.anyMatch(process -> arguments(process).contains(option));
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
