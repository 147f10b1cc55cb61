package io.pmemcsi.app.cli;

import io.pmemcsi.app.render.ResourceFile;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Looks at a kubeconfig before a client does, because clients fall back to other clusters. */
final class Kubeconfig {

  private Kubeconfig() {}

  static void check(Path file) {
    if (!Files.exists(file)) {
      throw new UsageException(
          "kubeconfig %s does not exist: name another one with --kubeconfig or KUBECONFIG"
              .formatted(file));
    }
    try {
      ResourceFile.Document first =
          ResourceFile.read(file.toString(), InputStream.nullInputStream()).documents().getFirst();
      if (!first.kind().equals("Config")) {
        throw new FatalException(
            "it is a %s, not a Config: name a file like ~/.kube/config".formatted(first.kind()));
      }
    } catch (UsageException e) {
      throw new UsageException("kubeconfig %s".formatted(e.getMessage()), e);
    } catch (FatalException e) {
      throw new FatalException("kubeconfig %s: %s".formatted(file, e.getMessage()), e);
    }
  }
}
