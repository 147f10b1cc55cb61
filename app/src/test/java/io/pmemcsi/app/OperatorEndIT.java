package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the operator ends as a process of its own. */
class OperatorEndIT {

  private static final Path DEFINITIONS = Path.of("../deploy/crd");
  private static final String STARTED = "PMEM-CSI operator started.";
  private static final Duration TIMEOUT = Duration.ofMinutes(4);
  private static final int MOMENTS = 8;

  /** Of a JVM that a signal ends before it has a handler. */
  private static final int TERMINATED = 143;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(process -> process.destroyForcibly().onExit().join());
  }

  @Test
  @WithKubernetes(controllers = false)
  void aLostLeaseIsOneLineAndEndsTheProcess(Sandbox sandbox) throws Exception {
    Definitions.install(sandbox.client(), DEFINITIONS);
    String namespace = sandbox.namespace();
    Process process = start(sandbox.cluster().kubeconfig(), namespace, "--leader-election");
    awaitStarted(process);

    takeLease(sandbox.client(), namespace);

    assertEnd(
        process,
        "the lease pmem-csi-operator-lock in namespace %s is lost, and another replica leads,"
                .formatted(namespace)
            + " another-replica: this one ends at once, to be restarted");
  }

  /** A kubelet that replaces the pod does not wait until the caches are filled. */
  @Test
  @WithKubernetes(controllers = false)
  void aSignalDuringTheStartEndsTheProcessInOrder(Sandbox sandbox) throws Exception {
    Definitions.install(sandbox.client(), DEFINITIONS);
    Path kubeconfig = sandbox.cluster().kubeconfig();
    long begin = System.nanoTime();
    Process complete = start(kubeconfig, sandbox.namespace(), "--leader-election");
    awaitStarted(complete);
    Duration start = Duration.ofNanos(System.nanoTime() - begin);
    assertStops(complete, 0);

    for (int moment = 1; moment < MOMENTS; moment++) {
      Process process = start(kubeconfig, sandbox.namespace(), "--leader-election");
      Thread.sleep(start.multipliedBy(moment).dividedBy(MOMENTS));
      assertStops(process, 0, TERMINATED);
    }
  }

  private void assertStops(Process process, Integer... exitCodes) throws Exception {
    process.destroy();
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).as(err()).isTrue();
    assertThat(process.exitValue()).as(err()).isIn((Object[]) exitCodes);
    assertThat(err()).doesNotContain("Exception").doesNotContainPattern("(?m)^\\s+at ");
  }

  /** A user has replaced the CRDs, so that the schema of a resource differs. */
  @Test
  void aWatchThatCannotGoOnIsOneLineAndEndsTheProcess() throws Exception {
    try (EmbeddedKubernetes server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      Definitions.install(client, DEFINITIONS);
      loosen(client, "pmemcsideployments.pmem-csi.intel.com");
      Process process = start(kubeconfig(server), "default");
      awaitStarted(process);

      client
          .resource(
              """
              apiVersion: pmem-csi.intel.com/v1beta1
              kind: PmemCSIDeployment
              metadata: {name: odd.example.com}
              status: {observedGeneration: many}
              """)
          .create();

      assertEnd(process, "the watch of pmemcsideployments.pmem-csi.intel.com has ended for good: ");
    }
  }

  @Test
  void aClusterThatMayNotBeWatchedIsOneLine() throws Exception {
    try (EmbeddedKubernetes server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      Definitions.install(client, DEFINITIONS);
      server.faults().follow(new ForbiddenLists());
      Process process = start(kubeconfig(server), "default", "-v=0");

      assertEnd(process, "cannot watch the cluster: ");
      assertThat(err())
          .containsPattern("cluster: pmemcsideployments\\.\\S+: .*; are the CRDs of")
          .hasLineCount(1);
    }
  }

  private static final class ForbiddenLists implements FaultPlan {
    @Override
    public RequestFault onRequest(SeenRequest request) {
      return request.verb().equals("list") && request.plural().equals("pmemcsideployments")
          ? new RequestFault.Fail(403, RequestFault.Moment.BEFORE)
          : RequestFault.NONE;
    }
  }

  private void awaitStarted(Process process) throws IOException {
    await().atMost(TIMEOUT).until(() -> err().contains(STARTED) || !process.isAlive());
    assertThat(process.isAlive()).as(err()).isTrue();
  }

  private void assertEnd(Process process, String reason) throws Exception {
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).as(err()).isTrue();
    assertThat(process.exitValue()).as(err()).isEqualTo(1);
    // not always the last line: other threads may log until the process has ended
    assertThat(err().lines()).contains("pmem-csi: " + terminationLog());
    // warnings before it, such as that of a lease which two want to write, are those of libraries
    assertThat(terminationLog()).startsWith(reason).doesNotContain("Exception");
    assertThat(err()).doesNotContainPattern("(?m)^\\s+at ");
  }

  private static void takeLease(KubernetesClient client, String namespace) {
    var lease = client.leases().inNamespace(namespace).withName(OperatorProgram.LEASE);
    // the operator may not have it yet, and renews it while this runs
    await()
        .ignoreExceptions()
        .until(
            () -> {
              var taken = Objects.requireNonNull(lease.get());
              taken.getSpec().setHolderIdentity("another-replica");
              taken.getSpec().setRenewTime(ZonedDateTime.now(ZoneOffset.UTC));
              client.resource(taken).update();
              return true;
            });
  }

  /** Lets a status be anything. */
  private static void loosen(KubernetesClient client, String name) {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName(name)
        .edit(
            definition -> {
              definition.getSpec().getVersions().forEach(OperatorEndIT::loosen);
              return definition;
            });
  }

  private static void loosen(CustomResourceDefinitionVersion version) {
    version.setSubresources(null);
    version
        .getSchema()
        .getOpenAPIV3Schema()
        .getProperties()
        .computeIfPresent(
            "status",
            (_, _) ->
                new JSONSchemaPropsBuilder()
                    .withType("object")
                    .withXKubernetesPreserveUnknownFields(true)
                    .build());
  }

  private static KubernetesClient client(EmbeddedKubernetes server) {
    return Clients.to(Config.fromKubeconfig(server.kubeconfig())).build();
  }

  private Path kubeconfig(EmbeddedKubernetes server) throws IOException {
    return Files.writeString(directory.resolve("kubeconfig"), server.kubeconfig());
  }

  private Process start(Path kubeconfig, String namespace, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of("../bin/pmem-csi-operator").toAbsolutePath().normalize().toString(),
                "--image=any",
                "--metrics-addr=0",
                "--kubeconfig=" + kubeconfig));
    command.addAll(List.of(more));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile());
    builder.environment().put("WATCH_NAMESPACE", namespace);
    builder.environment().put("TERMINATION_LOG_PATH", directory.resolve("end").toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private String terminationLog() throws IOException {
    return Files.readString(directory.resolve("end")).strip();
  }

  private String err() throws IOException {
    return Files.readString(directory.resolve("err"));
  }
}
