package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.KubernetesVersion;
import io.pmemcsi.testbed.node.RealNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files in {@code deploy/kubernetes-VERSION}, as the documentation describes their use. */
class WithoutOperatorIT extends PodTests {

  /** The first version whose files use storage capacity tracking. */
  private static final Release FIRST_WITH_CAPACITY = new Release(1, 21);

  private final Path work;

  /** A version of Kubernetes for which there are files. */
  private record Release(int major, int minor) {

    static Release parse(String directory) {
      String[] version = directory.substring("kubernetes-".length()).split("\\.", -1);
      return new Release(Integer.parseInt(version[0]), Integer.parseInt(version[1]));
    }

    Path file() {
      return Installation.ROOT.resolve(
          "deploy/kubernetes-%d.%d/pmem-csi-file.yaml".formatted(major, minor));
    }
  }

  WithoutOperatorIT(RealNode node, @TempDir Path work) {
    super(node);
    this.work = work;
  }

  @BeforeAll
  void importImages() throws Exception {
    Installation.importImages(node, work);
  }

  @AfterEach
  void delete() {
    Path file = work.resolve("driver.yaml");
    kubectl().run("delete", "--ignore-not-found", "-f", file.toString());
    await("deleted driver")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () -> assertThat(client.namespaces().withName(Installation.NAMESPACE).get()).isNull());
  }

  @Test
  void theDriverServesVolumes() throws Exception {
    apply(newestFor(node.cluster().version()));

    claim("claim", "late", "Filesystem");
    assertThat(run("pod", "echo written > /data/file; cat /data/file", CLAIMED))
        .contains("written");
    deleteClaim();
  }

  /**
   * A node's free capacity is published, and a pod whose volume does not fit waits for it. Servers
   * before 1.21 have this API with a feature gate, which the node sets; the files for them do
   * without.
   */
  @Test
  void aPodWaitsForCapacity() throws Exception {
    Release server = newestFor(node.cluster().version());
    apply(server.equals(new Release(1, 20)) ? FIRST_WITH_CAPACITY : server);
    await("published capacity").untilAsserted(() -> assertThat(capacityOf("late")).isPositive());

    claim("claim", "late", "Filesystem", Long.toString(capacityOf("late") * 2));
    start("pod", "true", CLAIMED);

    await("waiting pod")
        .untilAsserted(
            () ->
                assertThat(
                        sandbox().client().pods().withName("pod").get().getStatus().getConditions())
                    .extracting(PodCondition::getMessage)
                    .anyMatch(
                        message -> message.contains("node(s) did not have enough free storage")));
    assertThat(claimPhase()).isEqualTo("Pending");
    delete("pod");
    deleteClaim();
  }

  /** The newest one that is not newer than the server. */
  private static Release newestFor(KubernetesVersion server) throws IOException {
    try (Stream<Path> directories = Files.list(Installation.ROOT.resolve("deploy"))) {
      return directories
          .map(directory -> directory.getFileName().toString())
          .filter(name -> name.startsWith("kubernetes-"))
          .map(Release::parse)
          .filter(release -> server.isAtLeast(release.major(), release.minor()))
          .max(Comparator.comparingInt(Release::major).thenComparingInt(Release::minor))
          .orElseThrow();
    }
  }

  /** Applies the files for a version and the secret, and returns when all pods are ready. */
  private void apply(Release release) throws IOException, InterruptedException {
    Path driver =
        Files.writeString(
            work.resolve("driver.yaml"),
            Installation.read(release.file())
                .replaceAll(
                    "image: .*/csi-node-driver-registrar:.*", "image: " + StandIns.REGISTRAR)
                .replaceAll("image: .*/csi-provisioner:.*", "image: " + StandIns.PROVISIONER)
                .replaceAll("image: .*/csi-resizer:.*", "image: " + StandIns.RESIZER));
    Path secret = work.resolve("secret.yaml");
    Process certificates =
        new ProcessBuilder(
                "../bin/pmem-csi",
                "certificates",
                "--driver=" + Installation.DRIVER,
                "--namespace=" + Installation.NAMESPACE)
            .redirectOutput(secret.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(certificates.waitFor()).as("exit code of pmem-csi certificates").isZero();

    kubectl().run("apply", "-f", driver.toString());
    kubectl().run("apply", "-f", secret.toString());

    await("ready pods")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () ->
                assertThat(client.pods().inNamespace(Installation.NAMESPACE).list().getItems())
                    .hasSize(2)
                    .allMatch(Installation::isReady));
    Installation.awaitRegistered(node);
  }

  private Kubectl kubectl() {
    return new Kubectl(node.cluster(), Path.of(".."), work.resolve("cache"));
  }

  /** The capacity for a storage class in bytes, or 0 where none is published. */
  private long capacityOf(String storageClass) {
    return Stream.of("v1", "v1beta1", "v1alpha1")
        .map(version -> "storage.k8s.io/" + version)
        .filter(version -> client.supports(version, "CSIStorageCapacity"))
        .findFirst()
        .map(
            version ->
                client
                    .genericKubernetesResources(version, "CSIStorageCapacity")
                    .inNamespace(Installation.NAMESPACE)
                    .list()
                    .getItems())
        .orElse(List.of())
        .stream()
        .filter(capacity -> storageClass.equals(capacity.get("storageClassName")))
        .mapToLong(WithoutOperatorIT::bytes)
        .sum();
  }

  private static long bytes(GenericKubernetesResource capacity) {
    return Quantity.parse(String.valueOf(capacity.<Object>get("capacity")))
        .getNumericalAmount()
        .longValueExact();
  }

  /** While the provisioner is there. */
  private void deleteClaim() {
    sandbox().client().persistentVolumeClaims().withName("claim").delete();
    await("deleted claim and volume")
        .untilAsserted(
            () -> {
              assertThat(sandbox().client().persistentVolumeClaims().withName("claim").get())
                  .isNull();
              assertThat(client.persistentVolumes().list().getItems()).isEmpty();
            });
  }
}
