package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.app.render.ResourceFile;
import io.pmemcsi.app.render.ResourceFile.Document;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.tools.migrate.Migration;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code pmem-csi migrate}. */
@Command(
    name = "migrate",
    mixinStandardHelpOptions = true,
    customSynopsis = "pmem-csi migrate -f FILE | --name NAME [OPTIONS]",
    description = {
      "Prints a PmemCSIDeployment for the driver of a Deployment v1alpha1. Nothing is changed.",
      ""
    },
    footer = {
      "",
      "For example: pmem-csi migrate --name pmem-deployment",
      "docs/migration.md has the whole procedure."
    })
final class MigrateCommand implements Callable<Integer> {

  @Option(
      names = {"-f", "--filename"},
      paramLabel = "FILE",
      order = 1,
      description = "A file with Deployment resources, in YAML or JSON; - is standard input.")
  private String filename = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      order = 2,
      description = "The name of a Deployment resource in the cluster.")
  private String name = "";

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      order = 3,
      description =
          "For --name, how to reach the cluster (default $KUBECONFIG, else the pod's own account,"
              + " else ~/.kube/config).")
  private String kubeconfig = "";

  private final CliEnvironment environment;

  MigrateCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public Integer call() {
    if (filename.isEmpty() == name.isEmpty()) {
      throw new UsageException("say which resource: write either -f FILE or --name NAME");
    }
    List<Migration> migrations = name.isEmpty() ? fromFile() : List.of(fromCluster());
    environment
        .out()
        .print(migrations.stream().map(Migration::yaml).collect(Collectors.joining("---\n")));
    // also where the output goes to a file
    migrations.stream()
        .flatMap(migration -> migration.remarks().stream())
        .forEach(environment.err()::println);
    return 0;
  }

  private List<Migration> fromFile() {
    return ResourceFile.readAll(filename, environment.in()).stream()
        .flatMap(file -> file.documents().stream())
        .map(MigrateCommand::migrate)
        .toList();
  }

  /** The content of a file is not the command line: what is wrong there is exit code 1. */
  private static Migration migrate(Document document) {
    try {
      return Migration.of(new Rendering().read(document.json()));
    } catch (UsageException | FatalException | IllegalArgumentException e) {
      throw new FatalException("%s: %s".formatted(document.position(), e.getMessage()), e);
    }
  }

  private Migration fromCluster() {
    String named =
        kubeconfig.isEmpty() ? Kubeconfig.onlyOne(environment.variable("KUBECONFIG")) : kubeconfig;
    String server = "";
    try (KubernetesClient client =
        ApiAccess.client(
            Kubeconfig.read(Flag.optional("--kubeconfig", named, FilePath::parse), environment))) {
      server = client.getMasterUrl().toString();
      return Migration.of(client, name);
    } catch (KubernetesClientException e) {
      throw new FatalException(
          "the API server %s refuses or cannot be reached: %s; check --kubeconfig or KUBECONFIG"
              .formatted(server, Refusal.reason(e)),
          e);
    }
  }
}
