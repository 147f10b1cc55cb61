package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.Config;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.app.render.ResourceFile;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Checks a kubeconfig before a client reads it, because clients fall back to other clusters. */
final class Kubeconfig {

  /** Variables by which a client knows a server: that of a pod, and one of its own. */
  private static final List<String> SERVERS =
      List.of("KUBERNETES_SERVICE_HOST", "KUBERNETES_MASTER");

  private static final ResourceFile.Form FORM =
      new ResourceFile.Form("kubeconfig", "apiVersion, kind, clusters, users and contexts");

  private Kubeconfig() {}

  /** The file in a value of KUBECONFIG, where kubectl would merge a list of them. */
  static String onlyOne(String variable) {
    List<String> files =
        Arrays.stream(variable.split(File.pathSeparator, -1))
            .filter(file -> !file.isEmpty())
            .toList();
    if (files.size() > 1) {
      throw new UsageException(
          ("KUBECONFIG=%s names %d files: name one only, for example what kubectl config view"
                  + " --flatten prints")
              .formatted(variable, files.size()));
    }
    return String.join("", files);
  }

  /** The file that the flag names, else the one in the environment. */
  static Optional<Path> file(String flag, CliEnvironment environment) {
    String named = flag.isEmpty() ? onlyOne(environment.variable("KUBECONFIG")) : flag;
    return Flag.optional("--kubeconfig", named, FilePath::parse);
  }

  /**
   * Reads the file that a user has named, else the usual one, and refuses what leads nowhere.
   *
   * @return nothing where none is named: a client finds the account of its pod or the usual file
   *     itself, and what the environment says besides
   */
  static Optional<KubeconfigContent> read(Optional<Path> named, CliEnvironment environment) {
    if (named.isEmpty()) {
      Optional<Path> usual = usual(environment);
      if (usual.isEmpty()
          && SERVERS.stream().map(environment::variable).allMatch(String::isEmpty)) {
        throw new UsageException(
            "no cluster is named: this is no pod, and there is no ~/.kube/config; name a file with"
                + " --kubeconfig or KUBECONFIG");
      }
      usual.ifPresent(file -> check(file, Optional.empty(), environment));
    }
    return named.map(file -> check(file, Optional.empty(), environment));
  }

  /** The same with another context than the current one of the file. */
  static KubeconfigContent read(Optional<Path> named, String context, CliEnvironment environment) {
    Path file =
        named
            .or(() -> usual(environment))
            .orElseThrow(
                () ->
                    new UsageException(
                        "--context=%s: there is no ~/.kube/config; name a file with --kubeconfig or KUBECONFIG"
                            .formatted(context)));
    return check(file, Optional.of(context), environment);
  }

  /** The file that is used where none is named, if it is there and this is no pod. */
  private static Optional<Path> usual(CliEnvironment environment) {
    String home = environment.variable("HOME");
    if (home.isEmpty() || !environment.variable("KUBERNETES_SERVICE_HOST").isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(Flag.required("HOME", home, FilePath::parse).resolve(".kube/config"))
        .filter(Files::exists);
  }

  private static KubeconfigContent check(
      Path file, Optional<String> context, CliEnvironment environment) {
    if (!Files.exists(file)) {
      throw new UsageException(
          "kubeconfig %s does not exist: name another one with --kubeconfig or KUBECONFIG"
              .formatted(file));
    }
    String label = "kubeconfig " + file;
    try {
      ResourceFile.Document first = ResourceFile.read(file, label, FORM).documents().getFirst();
      if (!first.kind().equals("Config")) {
        throw new UsageException(
            "%s: it is a %s, not a Config: name a file like ~/.kube/config"
                .formatted(label, first.kind()));
      }
      Config config = config(label, first.json());
      context.ifPresent(config::setCurrentContext);
      KubeconfigContext.requireUsable(label, config, environment.variable("PATH"));
      return new KubeconfigContent(
          file, context.isPresent() ? Serialization.asJson(config) : first.json(), context);
    } catch (FatalException e) {
      // a user who names this file can name another one
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private static Config config(String label, String json) {
    try {
      return Serialization.unmarshal(json, Config.class);
    } catch (RuntimeException e) {
      throw new UsageException(
          "%s: a field has the wrong type: write contexts, clusters and users as kubectl does"
              .formatted(label),
          e);
    }
  }
}
