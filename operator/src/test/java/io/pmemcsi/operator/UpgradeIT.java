package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Another release of the operator takes over what the one before has made. */
@WithKubernetes(controllers = false)
class UpgradeIT {

  private InstalledOperator operator;
  private TestDriver driver;
  private EarlierOperator earlier;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.operator = InstalledOperator.install(sandbox);
    this.driver = new TestDriver(sandbox, "upgrade.example.com");
    this.earlier =
        new EarlierOperator(
            driver,
            ClusterFacts.assumed(
                KubernetesVersion.parse(sandbox.version().toString()),
                sandbox.namespace(),
                InstalledOperator.IMAGE));
  }

  @Test
  void eachReleaseBringsTheResourceToItsOwnStateAndRemovesWhatTheOtherMade() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    operator.stop();
    Map<String, String> now = snapshot();

    earlier.run();
    Map<String, String> before = snapshot();
    assertThat(before.keySet())
        .contains("Service %s-earlier".formatted(driver.prefix()))
        .doesNotContain("DaemonSet %s-node-setup".formatted(driver.prefix()));

    operator.start();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(snapshot()).isEqualTo(now));
    operator.stop();

    earlier.run();
    assertThat(snapshot()).isEqualTo(before);
  }

  private Map<String, String> snapshot() {
    KubernetesClient client = driver.sandbox().client();
    return Snapshot.of(client, driver.sandbox().namespace(), driver.prefix(), driver.name());
  }
}
