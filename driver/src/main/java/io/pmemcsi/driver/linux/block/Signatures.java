package io.pmemcsi.driver.linux.block;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The signatures of filesystems and partition tables on devices. */
public final class Signatures {

  private static final int NOTHING_FOUND = 2;

  private final CommandRunner runner;

  public Signatures(CommandRunner runner) {
    this.runner = runner;
  }

  /** What was found on a device; the text of each is for people. */
  public sealed interface Found {

    /** A filesystem, a partition table or something else. */
    record Signature(String type, String uuid) implements Found {
      @Override
      public String toString() {
        return uuid.isEmpty() ? type : "%s with UUID %s".formatted(type, uuid);
      }
    }

    /** Nothing that blkid knows. */
    record Nothing() implements Found {
      @Override
      public String toString() {
        return "no known signature";
      }
    }

    /** There may be something, but the device cannot be read. */
    record Unreadable(String why) implements Found {
      @Override
      public String toString() {
        return "a device that cannot be read: " + why;
      }
    }
  }

  /**
   * Reads the device itself, past all caches. Several contradicting signatures are a failure of the
   * tool, so they are never taken for nothing.
   */
  public Found probe(Path device) {
    Found otherwise = new Found.Nothing();
    try {
      if (SignatureAreas.areBlank(device)) {
        return otherwise;
      }
    } catch (IOException e) {
      // blkid ends the same way whether there is nothing to find or nothing can be read
      otherwise = new Found.Unreadable(Reason.withFile(e));
    }
    CommandResult result =
        runner.run(
            Command.of("blkid", "--probe", "--output", "export", device.toString())
                .alsoAccepting(NOTHING_FOUND));
    return result.exitCode() == NOTHING_FOUND
        ? otherwise
        : parse(result.stdout()).map(Found.class::cast).orElse(otherwise);
  }

  /**
   * Whether a device that was wiped is still blank where superblocks are. What is at its end is not
   * read.
   */
  public boolean isUntouched(Path device) {
    try {
      return SignatureAreas.isBeginningBlank(device);
    } catch (IOException e) {
      // probing reports what is wrong with the device
      return false;
    }
  }

  /**
   * Removes every signature; only for devices that were never used.
   *
   * @return whether there may have been one
   */
  public boolean wipe(Path device) {
    if (isBlank(device)) {
      return false;
    }
    runner.run(Command.of("wipefs", "--all", "--force", "--quiet", device.toString()));
    return true;
  }

  /** Whether there are zeros only wherever something could have left a signature. */
  public static boolean isBlank(Path device) {
    try {
      return SignatureAreas.areBlank(device);
    } catch (IOException e) {
      // the output of the tool has the reason
      return false;
    }
  }

  static Optional<Found.Signature> parse(String export) {
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
        : Optional.of(new Found.Signature(type, values.getOrDefault("UUID", "")));
  }
}
