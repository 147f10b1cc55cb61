package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two operators as real processes: one hangs, one is killed in the middle of its work. */
@WithKubernetes(controllers = false)
class ReplicasIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private Sandbox sandbox;
  private InstalledOperator installed;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.installed = InstalledOperator.install(sandbox);
  }

  @Test
  void replicaTakesOverFromAHungLeaderWhichExitsWhenItResumes() throws Exception {
    Path kubeconfig = sandbox.kubeconfigAs(OperatorInstallation.NAME);
    Process first = start(kubeconfig);
    await().atMost(LIMIT).until(() -> !leader().isEmpty());
    String firstLeader = leader();
    Process second = start(kubeconfig);
    var one = new TestDriver(sandbox, "hang-one.example.com");
    one.create("");
    await().atMost(LIMIT).until(() -> one.daemonSet().get() != null);

    signal(first, "STOP");
    var two = new TestDriver(sandbox, "hang-two.example.com");
    two.create("");
    await().atMost(LIMIT).until(() -> two.daemonSet().get() != null);
    assertThat(leader()).isNotEqualTo(firstLeader);

    // it lost its lease without observing that: it must not write any more
    signal(first, "CONT");
    await().atMost(LIMIT).until(() -> !first.isAlive());
    assertThat(first.exitValue()).isEqualTo(1);

    var three = new TestDriver(sandbox, "hang-three.example.com");
    three.create("controllerTLS: {managed: true}");
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> !three.objectNames().isEmpty());
    second.destroyForcibly().waitFor();
    List<String> desired = desired(three);

    installed.start();

    three.awaitPhase("Initializing");
    assertThat(three.objectNames()).containsAll(desired);
    assertThat(one.objectNames()).isNotEmpty();
  }

  private List<String> desired(TestDriver driver) {
    return new Rendering()
            .objects(
                driver.self().get(),
                ClusterFacts.assumed(
                    KubernetesVersion.parse(sandbox.version().toString()),
                    sandbox.namespace(),
                    InstalledOperator.IMAGE))
            .stream()
            .map(object -> object.getKind() + " " + object.getMetadata().getName())
            .toList();
  }

  private String leader() {
    return Optional.ofNullable(
            sandbox
                .client()
                .leases()
                .inNamespace(sandbox.namespace())
                .withName(OperatorProgram.LEASE)
                .get())
        .map(lease -> lease.getSpec().getHolderIdentity())
        .orElse("");
  }

  private Process start(Path kubeconfig) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OperatorMain.class.getName(),
                kubeconfig.toString(),
                sandbox.namespace())
            .redirectErrorStream(true)
            .redirectOutput(Redirect.DISCARD)
            .start();
    sandbox.cleanUp(() -> process.destroyForcibly().onExit().join());
    return process;
  }

  private static void signal(Process process, String name) throws Exception {
    int code =
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    assertThat(code).isZero();
  }
}
