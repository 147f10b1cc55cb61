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
   * @param path the folders of programs, as in the environment
   */
  boolean isThere(String path) {
    if (!command.contains("/")) {
      return Arrays.stream(path.split(File.pathSeparator, -1))
          .anyMatch(folder -> new File(folder, command).canExecute());
    }
    // other names count from the folder of the kubeconfig, which is the client's business
    return !command.startsWith("/") || new File(command).canExecute();
  }
}
