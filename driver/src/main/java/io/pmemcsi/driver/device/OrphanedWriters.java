package io.pmemcsi.driver.device;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Commands that may write to a device although nothing waits for them any more.
 *
 * <p>Only a driver that was killed leaves such a command, or a command that does not end when this
 * driver kills it. So all processes of the node are searched by the first question and after each
 * kill; in between only those that were found then are examined, which are none as a rule.
 */
final class OrphanedWriters {

  private final OrphanedCommands commands;
  private final LongSupplier kills;
  private final Set<Path> found = new HashSet<>();
  private long killsAtSearch = -1;

  /**
   * @param kills how many commands this driver has killed so far
   */
  OrphanedWriters(OrphanedCommands commands, LongSupplier kills) {
    this.commands = commands;
    this.kills = kills;
  }

  /** The command that may write to a device, if one runs. */
  synchronized Optional<String> writerOf(Path device) {
    long killed = kills.getAsLong();
    if (killed != killsAtSearch) {
      found.addAll(commands.writers());
      killsAtSearch = killed;
    }
    found.removeIf(process -> !Files.exists(process));
    return OrphanedCommands.writerOf(device, found.stream());
  }
}
