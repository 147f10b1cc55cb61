package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upgrades and downgrades: a release takes over the objects of another one. */
@WithKubernetes(controllers = false)
class UpgradeIT {

  private InstalledOperator operator;
  private TestDriver driver;
  private PreviousOperator earlier;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.operator = InstalledOperator.install(sandbox);
    this.driver = new TestDriver(sandbox, "upgrade.example.com");
    this.earlier =
        new PreviousOperator(
            driver,
            ClusterFacts.assumed(
                KubernetesVersion.parse(sandbox.version().toString()),
                sandbox.namespace(),
                InstalledOperator.IMAGE));
  }

  @Test
  void eachReleaseAppliesItsDesiredStateAndPrunesTheObjectsOfTheOther() {
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
    await().untilAsserted(() -> assertThat(snapshot()).isEqualTo(now));
    operator.stop();

    earlier.run();
    assertThat(snapshot()).isEqualTo(before);
  }

  /** It wrote by updates, which server-side apply would leave in place for ever. */
  @ParameterizedTest
  @ValueSource(strings = {"0.9.1", "1.0.2"})
  void nothingIsLeftOfTheObjectsOfTheOriginalOperator(String release) throws IOException {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    operator.stop();
    Map<String, String> fresh = snapshot();
    driver.removeAll();
    PmemCSIDeployment resource = driver.create("");
    new OriginalRelease(release)
        .create(client(), driver.sandbox().namespace(), driver.prefix(), resource);
    assertThat(snapshot().keySet())
        .contains("Service %s-scheduler".formatted(driver.prefix()))
        .contains("DaemonSet %s-node".formatted(driver.prefix()));

    operator.start();

    await().untilAsserted(() -> assertThat(Snapshot.differences(snapshot(), fresh)).isEmpty());
    await()
        .until(
            () ->
                client()
                    .apps()
                    .statefulSets()
                    .inNamespace(driver.sandbox().namespace())
                    .list()
                    .getItems()
                    .isEmpty());
  }

  private KubernetesClient client() {
    return driver.sandbox().client();
  }

  private Map<String, String> snapshot() {
    return Snapshot.of(client(), driver.sandbox().namespace(), driver.prefix(), driver.name());
  }
}
