package io.pmemcsi.driver.mount;

import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.command.CommandResult;
import io.pmemcsi.driver.command.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What the first bytes of devices say about their content. */
public final class Signatures {

  private static final int NOTHING_FOUND = 2;

  private final CommandRunner runner;

  public Signatures(CommandRunner runner) {
    this.runner = runner;
  }

  /** What a device says it holds: a filesystem, a partition table or something else. */
  public record Found(String type, String uuid) {
    @Override
    public String toString() {
      return uuid.isEmpty() ? type : "%s with UUID %s".formatted(type, uuid);
    }
  }

  /**
   * Looks at the device itself, past all caches. Several contradicting signatures are a failure of
   * the tool, so they can never be taken for nothing.
   */
  public Optional<Found> probe(Path device) {
    if (isBlank(device)) {
      return Optional.empty();
    }
    CommandResult result =
        runner.run(
            Command.of("blkid", "--probe", "--output", "export", device.toString())
                .alsoAccepting(NOTHING_FOUND));
    return result.exitCode() == NOTHING_FOUND ? Optional.empty() : parse(result.stdout());
  }

  /** Removes every signature; only for devices that nobody has used yet. */
  public void wipe(Path device) {
    if (!isBlank(device)) {
      runner.run(Command.of("wipefs", "--all", "--force", "--quiet", device.toString()));
    }
  }

  private static boolean isBlank(Path device) {
    try {
      return BlankEnds.of(device);
    } catch (IOException e) {
      // the tools say what is wrong with the device
      return false;
    }
  }

  static Optional<Found> parse(String export) {
    Map<String, String> values =
        export
            .lines()
            .filter(line -> line.indexOf('=') > 0)
            .collect(
                Collectors.toMap(
                    line -> line.substring(0, line.indexOf('=')),
                    line -> line.substring(line.indexOf('=') + 1),
                    (first, _) -> first));
    String type = values.getOrDefault("TYPE", values.getOrDefault("PTTYPE", ""));
    return type.isEmpty()
        ? Optional.empty()
        : Optional.of(new Found(type, values.getOrDefault("UUID", "")));
  }
}
