package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.tools.render.Rendering;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A file of deploy/ that is generated from the objects that the operator creates.
 *
 * @param path in deploy/
 */
record GeneratedFile(String path, String text) {

  static final Path DEPLOY = Path.of("..", "deploy");

  static final String HEADER = "# Made by 'make generate' (InstallationFilesTest): do not edit.\n";

  static GeneratedFile of(String path, List<? extends HasMetadata> objects) {
    return new GeneratedFile(path, HEADER + new Rendering().yaml(objects));
  }

  /** For a directory that needs a file of deploy/ as well. */
  static GeneratedFile copyOf(String original, String path) {
    try {
      return new GeneratedFile(path, Files.readString(DEPLOY.resolve(original)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + original, e);
    }
  }

  /** Shown as the name of a test. */
  @Override
  public String toString() {
    return path;
  }
}
