package io.pmemcsi.operator.runtime;

import java.nio.file.Path;

/**
 * A kubeconfig that has been read and checked.
 *
 * @param file where it was, or a pipe that has nothing more to say
 * @param text the content, in YAML or JSON
 */
public record KubeconfigContent(Path file, String text) {

  /** Does not show the content, which may have a password. */
  @Override
  public String toString() {
    return "kubeconfig " + file;
  }
}
