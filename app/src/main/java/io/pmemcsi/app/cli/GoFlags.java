package io.pmemcsi.app.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Turns {@code -name=value}, the spelling of Go programs that deployments of earlier releases use,
 * into {@code --name=value}. One-letter flags are the same in both, and those that have a long name
 * too may be followed by their value at once, as in {@code -fFILE}.
 */
final class GoFlags {

  private GoFlags() {}

  /** For commands whose one-letter flags are never followed by their value at once. */
  static List<String> normalize(List<String> arguments) {
    List<String> normalized = new ArrayList<>(arguments.size());
    boolean flagsEnded = false;
    for (String argument : arguments) {
      flagsEnded |= argument.equals("--");
      normalized.add(!flagsEnded && hasOneDash(argument) ? "-" + argument : argument);
    }
    return List.copyOf(normalized);
  }

  static List<String> normalize(List<String> arguments, CommandLine program) {
    List<String> normalized = new ArrayList<>(arguments.size());
    CommandLine command = program;
    boolean flagsEnded = false;
    for (String argument : arguments) {
      flagsEnded |= argument.equals("--");
      command = command.getSubcommands().getOrDefault(argument, command);
      boolean stays = flagsEnded || hasValueAtOnce(argument, command);
      normalized.addAll(stays ? List.of(argument) : normalize(List.of(argument)));
    }
    return List.copyOf(normalized);
  }

  /** Whether this is the name of a flag, known or not, with one dash. */
  private static boolean hasOneDash(String argument) {
    return name(argument).length() > 2
        && argument.charAt(0) == '-'
        && Character.isLetter(argument.charAt(1));
  }

  private static boolean hasValueAtOnce(String argument, CommandLine command) {
    Map<String, OptionSpec> flags = command.getCommandSpec().optionsMap();
    if (!hasOneDash(argument) || flags.containsKey("-" + name(argument))) {
      return false;
    }
    OptionSpec letter = flags.get(argument.substring(0, 2));
    return letter != null
        && letter.arity().min() > 0
        && letter.longestName().length() > "--x".length();
  }

  private static String name(String argument) {
    int end = argument.indexOf('=');
    return end < 0 ? argument : argument.substring(0, end);
  }
}
