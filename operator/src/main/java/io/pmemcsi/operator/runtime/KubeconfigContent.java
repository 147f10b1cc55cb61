package io.pmemcsi.operator.runtime;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A kubeconfig that has been read and checked.
 *
 * @param file where it was, or a pipe that has nothing more to say
 * @param text the content, in YAML or JSON, with the context that is used as the current one
 * @param context empty for the current one of the file
 */
public record KubeconfigContent(Path file, String text, Optional<String> context) {

  /** With its current context. */
  public KubeconfigContent(Path file, String text) {
    this(file, text, Optional.empty());
  }

  /** Does not show the content, which may have a password. */
  @Override
  public String toString() {
    return "kubeconfig " + file;
  }
}
