package io.pmemcsi.app.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * Turns {@code -name=value}, the spelling of Go programs that deployments of earlier releases use,
 * into {@code --name=value}. One-letter flags are the same in both.
 */
final class GoFlags {

  private GoFlags() {}

  static List<String> normalize(List<String> arguments) {
    List<String> normalized = new ArrayList<>(arguments.size());
    boolean flagsEnded = false;
    for (String argument : arguments) {
      flagsEnded |= argument.equals("--");
      normalized.add(!flagsEnded && hasOneDash(argument) ? "-" + argument : argument);
    }
    return List.copyOf(normalized);
  }

  private static boolean hasOneDash(String argument) {
    int end = argument.indexOf('=');
    String name = end < 0 ? argument : argument.substring(0, end);
    return name.length() > 2
        && name.charAt(0) == '-'
        && Character.isLetter(name.charAt(1))
        && name.charAt(1) != '-';
  }
}
