package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    originally(resource, release);
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

  private void originally(PmemCSIDeployment resource, String release) throws IOException {
    String yaml =
        Files.readString(Path.of("src/test/resources/upgrade/%s.yaml".formatted(release)))
            .replace("NAMESPACE", driver.sandbox().namespace())
            .replace("PREFIX", driver.prefix())
            .replace("NAME}", driver.name() + "}")
            .replace("value: NAME", "value: " + driver.name())
            .replace("/NAME", "/" + driver.name())
            .replace("instance: NAME", "instance: " + driver.name());
    for (HasMetadata object :
        client().load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items()) {
      object
          .getMetadata()
          .setOwnerReferences(
              List.of(
                  new OwnerReferenceBuilder()
                      .withApiVersion(resource.getApiVersion())
                      .withKind(resource.getKind())
                      .withName(resource.getMetadata().getName())
                      .withUid(resource.getMetadata().getUid())
                      .withController(true)
                      .withBlockOwnerDeletion(true)
                      .build()));
      String version = object.getApiVersion();
      String namespace = object.getMetadata().getNamespace();
      client()
          .raw(
              "%s/%s%s/%s?fieldManager=pmem-csi-operator"
                  .formatted(
                      version.contains("/") ? "/apis" : "/api",
                      version,
                      namespace == null ? "" : "/namespaces/" + namespace,
                      object.getPlural()),
              "POST",
              object);
    }
  }

  private KubernetesClient client() {
    return driver.sandbox().client();
  }

  private Map<String, String> snapshot() {
    return Snapshot.of(client(), driver.sandbox().namespace(), driver.prefix(), driver.name());
  }
}
