package io.pmemcsi.app.cli;

import java.io.File;
import java.util.Arrays;

/**
 * The program that a user of a kubeconfig has credentials from. A client that does not find it goes
 * on without any, and the server's refusal says nothing of the reason.
 */
record CredentialPlugin(String command) {

  /**
   * Whether there is such a program.
   *
   * @param path the directories of programs, as in the environment
   */
  boolean isThere(String path) {
    if (!command.contains("/")) {
      return Arrays.stream(path.split(File.pathSeparator, -1))
          .anyMatch(directory -> new File(directory, command).canExecute());
    }
    // the client resolves other names relative to the kubeconfig
    return !command.startsWith("/") || new File(command).canExecute();
  }
}
