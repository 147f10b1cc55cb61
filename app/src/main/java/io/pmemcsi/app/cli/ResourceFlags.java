package io.pmemcsi.app.cli;

import io.pmemcsi.app.render.ResourceFile;
import io.pmemcsi.app.render.ResourceFile.Document;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.NamespaceName;
import io.pmemcsi.base.error.UsageException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.CommandLine.Option;

/** The resources that a user asks about: the same flags for {@code render} and {@code diff}. */
final class ResourceFlags {

  /** Not required for picocli, which would speak of it before any other mistake. */
  @Option(
      names = {"-f", "--filename"},
      paramLabel = "FILE",
      order = 1,
      description =
          "Resources, in YAML or JSON; several documents are fine, and so are several -f; - is"
              + " standard input. Of a directory the JSON and YAML files are taken, in the order of"
              + " their names; subdirectories are ignored.")
  private List<String> filenames = new ArrayList<>();

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      order = 2,
      description =
          "The namespace of the operator, and of resources that name none (default pmem-csi).")
  private String namespace = "pmem-csi";

  /** All resources of all files, in the order of the command line. */
  List<Document> documents(InputStream in) {
    if (filenames.isEmpty()) {
      throw new UsageException(
          "say which resource: write -f and a file or directory, or -f - for standard input");
    }
    if (filenames.contains("")) {
      throw new UsageException("-f is empty: name a file or directory with resources");
    }
    if (Collections.frequency(filenames, ResourceFile.STANDARD_INPUT) > 1) {
      throw new UsageException("-f - is given twice: standard input can be read only once");
    }
    return filenames.stream()
        .flatMap(name -> ResourceFile.readAll(name, in).stream())
        .flatMap(file -> file.documents().stream())
        .toList();
  }

  String namespace() {
    return Flag.required("--namespace", namespace, NamespaceName::new).value();
  }
}
