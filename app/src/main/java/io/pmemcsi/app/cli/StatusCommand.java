package io.pmemcsi.app.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import io.pmemcsi.operator.tools.status.ClusterReader;
import io.pmemcsi.operator.tools.status.DriverReport;
import io.pmemcsi.operator.tools.status.TextReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code pmem-csi status}. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    customSynopsis = "pmem-csi status [DRIVER] [OPTIONS]",
    description = {
      "Shows the drivers of a cluster, what is wrong first.",
      "Then work in progress, conditions, components, nodes with their used and free memory, volumes"
          + " with their claims and pods, and snapshots.%n"
    },
    footer = {
      "",
      "As a kubectl plugin: put bin/kubectl-pmem_csi on the PATH and call kubectl pmem-csi status.",
      "Exit codes: 0 nothing is wrong, 1 something is, 2 an error."
    })
final class StatusCommand implements Callable<Integer> {

  private static final int HEALTHY = 0;
  private static final int PROBLEMS = 1;

  @Parameters(
      arity = "0..1",
      paramLabel = "DRIVER",
      description = "Only the driver of this name (default: all).")
  private String driver = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      order = 1,
      description = "text or json (default text).")
  private String output = "text";

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      order = 2,
      description =
          "How to reach the cluster (default $KUBECONFIG, else the pod's own account, else"
              + " ~/.kube/config).")
  private String kubeconfig = "";

  @Option(
      names = "--context",
      paramLabel = "NAME",
      order = 3,
      description = "Context of the kubeconfig (default: the current one).")
  private String context = "";

  private final CliEnvironment environment;

  StatusCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public Integer call() {
    if (!List.of("text", "json").contains(output)) {
      throw new UsageException("--output=%s: use text or json".formatted(output));
    }
    List<DriverReport> reports = read();
    if (reports.isEmpty()) {
      throw new UsageException(
          driver.isEmpty()
              ? "the cluster has no resource of the operator: kubectl apply one of deploy/samples"
              : "no resource installs the driver %s: call pmem-csi status for all"
                  .formatted(driver));
    }
    environment.out().print(output.equals("json") ? json(reports) : TextReport.of(reports));
    environment.requireWritten();
    return reports.stream().allMatch(report -> report.problems().isEmpty()) ? HEALTHY : PROBLEMS;
  }

  private List<DriverReport> read() {
    String server = "";
    try (KubernetesClient client = ApiAccess.client(access())) {
      server = client.getMasterUrl().toString();
      return new ClusterReader(client).reports(driver);
    } catch (KubernetesClientException e) {
      throw new UsageException(
          "the API server %s refuses or cannot be reached: %s; check --kubeconfig or KUBECONFIG"
              .formatted(server, Refusal.reason(e)),
          e);
    } catch (FatalException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private Optional<KubeconfigContent> access() {
    Optional<Path> file = Kubeconfig.file(kubeconfig, environment);
    return context.isEmpty()
        ? Kubeconfig.read(file, environment)
        : Optional.of(Kubeconfig.read(file, context, environment));
  }

  private static String json(List<DriverReport> reports) {
    try {
      return new ObjectMapper()
              .enable(SerializationFeature.INDENT_OUTPUT)
              .writeValueAsString(reports)
          + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("records can be written as JSON", e);
    }
  }
}
