package io.pmemcsi.driver.device;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Responds to commands with recorded output of the real tools and records the commands. Several
 * responses to one command are returned in order, then the last one repeatedly.
 */
public final class RecordedTools implements CommandRunner {
  private final Map<String, Deque<CommandResult>> responses = new LinkedHashMap<>();
  private final List<String> commands = new ArrayList<>();

  /** Sets the output of commands that start with the given text. */
  public RecordedTools respond(String command, String stdout) {
    return add(command, new CommandResult(0, stdout, ""));
  }

  public RecordedTools fail(String command, String stderr) {
    // lvm2 exits with 5 if a command failed
    int exit = command.startsWith("lv") || command.startsWith("vg") ? 5 : 1;
    return add(command, new CommandResult(exit, "", stderr));
  }

  private RecordedTools add(String command, CommandResult result) {
    responses.computeIfAbsent(command, _ -> new ArrayDeque<>()).add(result);
    return this;
  }

  /** The recorded commands without read-only ones. */
  public List<String> changes() {
    return commands.stream()
        .filter(c -> !c.startsWith("ndctl list") && !c.startsWith("pvs") && !c.contains("report"))
        .toList();
  }

  /** All recorded commands. */
  public List<String> commands() {
    return List.copyOf(commands);
  }

  @Override
  public CommandResult run(Command command) {
    commands.add(command.toString());
    CommandResult result =
        responses.entrySet().stream()
            .filter(entry -> command.toString().startsWith(entry.getKey()))
            .map(entry -> next(entry.getValue()))
            .findFirst()
            .orElse(new CommandResult(0, "", ""));
    if (result.exitCode() != 0) {
      throw ToolFailedException.exited(command, result);
    }
    return result;
  }

  private static CommandResult next(Deque<CommandResult> results) {
    return results.size() > 1 ? results.pop() : results.element();
  }

  /** A recorded output, from the directory of this package's test resources. */
  public static String recorded(String file) {
    try (InputStream in = RecordedTools.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalArgumentException("nothing recorded in " + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
