package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.node.RealNode;
import io.pmemcsi.testbed.node.WithRealNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** What users do with volumes, from the installation of the operator to its removal. */
@WithRealNode
@TestInstance(Lifecycle.PER_CLASS)
class PodVolumesIT {

  private static final String CLASSES =
      """
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: late}
      provisioner: pmem-csi.intel.com
      reclaimPolicy: Delete
      volumeBindingMode: WaitForFirstConsumer
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: immediate}
      provisioner: pmem-csi.intel.com
      reclaimPolicy: Delete
      volumeBindingMode: Immediate
      """;

  /** Name, storage class, volume mode. */
  private static final String CLAIM =
      """
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: %s}
      spec:
        storageClassName: %s
        volumeMode: %s
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 64Mi}}
      """;

  /** Name, command, volume. */
  private static final String POD =
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: %s}
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 0
        containers:
        - name: main
          image: localhost/busybox:test
          command: [sh, -c, '%s']
          volumeMounts: [{name: data, mountPath: /data}]
        volumes:
        - name: data
          %s
      """;

  private static final String CLAIMED = "persistentVolumeClaim: {claimName: claim}";

  /** Writes a line per second, to the volume and to the log. */
  private static final String HEARTBEAT =
      "i=0; while sleep 1; do i=$((i+1)); echo beat $i >> /data/file && sync || echo failed;"
          + " echo beat $i; done";

  private static final String STATEFUL_SET =
      """
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: web}
      spec:
        replicas: 2
        serviceName: web
        podManagementPolicy: Parallel
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            terminationGracePeriodSeconds: 0
            containers:
            - name: main
              image: localhost/busybox:test
              command: [sh, -c, 'echo file of $HOSTNAME > /data/file; cat /data/*; exec sleep 1000000']
              volumeMounts: [{name: data, mountPath: /data}]
        volumeClaimTemplates:
        - metadata: {name: data}
          spec:
            storageClassName: late
            accessModes: [ReadWriteOnce]
            resources: {requests: {storage: 64Mi}}
      """;

  private final RealNode node;
  private final KubernetesClient client;
  private final Path work;
  private final List<String> mountsBefore;
  private @Nullable Installation installed;
  private @Nullable Sandbox namespace;

  PodVolumesIT(RealNode node, @TempDir Path work) {
    this.node = node;
    this.client = node.client();
    this.work = work;
    this.mountsBefore = node.mounts();
  }

  @BeforeAll
  void install() throws Exception {
    installed = Installation.install(node, work);
    client.resourceList(CLASSES).create();
  }

  /** What a user sees at the end: nothing of all that was installed is left on the node. */
  @AfterAll
  void uninstall() {
    client.resourceList(CLASSES).delete();
    installation().uninstall();
    await("node as it was before")
        .untilAsserted(() -> assertThat(node.mounts()).hasSameSizeAs(mountsBefore));
    assertThat(node.state().resolve("kubelet/plugins_registry")).isEmptyDirectory();
    assertThat(stateFiles()).isEmpty();
  }

  @BeforeEach
  void createNamespace() {
    namespace = node.cluster().newSandbox("volumes");
  }

  @AfterEach
  void nothingIsLeft() {
    String name = sandbox().namespace();
    sandbox().close();
    await("deleted namespace")
        .untilAsserted(() -> assertThat(client.namespaces().withName(name).get()).isNull());
    await("deleted volumes")
        .untilAsserted(
            () -> {
              assertThat(client.persistentVolumes().list().getItems()).isEmpty();
              assertThat(node.loopDevices()).isEmpty();
              assertThat(stateFiles()).isEmpty();
              assertThat(node.mounts()).noneMatch(mount -> mount.contains("kubernetes.io~csi"));
            });
  }

  @Test
  void aPodReadsWhatAnotherOneWrote() {
    claim("claim", "late", "Filesystem");
    run("writer", "echo written > /data/file && sync", CLAIMED);

    assertThat(run("reader", "cat /data/file; df -T /data", CLAIMED))
        .contains("written")
        .contains("ext4");
  }

  @Test
  void aClaimWithImmediateBindingIsBoundBeforeAnyPodUsesIt() {
    claim("claim", "immediate", "Filesystem");
    await("bound claim").untilAsserted(() -> assertThat(claimPhase()).isEqualTo("Bound"));

    assertThat(run("pod", "echo written > /data/file; cat /data/file", CLAIMED))
        .contains("written");
  }

  @Test
  void aClaimWithLateBindingWaitsForAPod() {
    claim("claim", "late", "Filesystem");
    claim("other", "immediate", "Filesystem");
    await("bound claim").untilAsserted(() -> assertThat(claimPhase("other")).isEqualTo("Bound"));

    assertThat(claimPhase()).isEqualTo("Pending");
  }

  @Test
  void aRawBlockVolumeIsADeviceInThePod() {
    claim("claim", "late", "Block");
    String pod =
        pod("block", "echo written | dd of=/dev/data 2>&1; dd if=/dev/data bs=7 count=1", CLAIMED)
            .replace(
                "volumeMounts: [{name: data, mountPath: /data}]",
                "volumeDevices: [{name: data, devicePath: /dev/data}]");

    assertThat(complete(pod)).contains("written");
  }

  @Test
  void anInlineVolumeLivesAsLongAsItsPod() {
    assertThat(
            run(
                "inline",
                "echo written > /data/file; cat /data/file; df -T /data",
                "csi: {driver: pmem-csi.intel.com, volumeAttributes: {size: 64Mi}}"))
        .contains("written")
        .contains("ext4");
  }

  @Test
  void aGenericEphemeralVolumeLivesAsLongAsItsPod() {
    assertThat(
            run(
                "generic",
                "echo written > /data/file; cat /data/file",
                "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: late,"
                    + " accessModes: [ReadWriteOnce],"
                    + " resources: {requests: {storage: 64Mi}}}}}"))
        .contains("written");
  }

  @Test
  void aPodThatIsNotRootWritesWithItsGroup() {
    claim("claim", "late", "Filesystem");
    String pod =
        pod("group", "id; echo written > /data/file; cat /data/file", CLAIMED)
            .replace(
                "restartPolicy: Never",
                "restartPolicy: Never\n"
                    + "  securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000}");

    assertThat(complete(pod)).contains("uid=1000").contains("written");
  }

  @Test
  void aReadOnlyVolumeCannotBeWritten() {
    claim("claim", "late", "Filesystem");
    run("writer", "echo written > /data/file && sync", CLAIMED);
    String pod =
        pod("reader", "cat /data/file; touch /data/other 2>&1; true", CLAIMED)
            .replace("mountPath: /data", "mountPath: /data, readOnly: true");

    assertThat(complete(pod)).contains("written").contains("Read-only file system");
  }

  @Test
  void everyReplicaOfAStatefulSetHasItsOwnVolume() {
    sandbox().client().resource(STATEFUL_SET).create();
    for (String replica : List.of("web-0", "web-1")) {
      await("log of " + replica)
          .untilAsserted(() -> assertThat(log(replica)).contains("file of " + replica));
    }
    assertThat(claimPhase("data-web-0")).isEqualTo("Bound");
    assertThat(claimPhase("data-web-1")).isEqualTo("Bound");
    sandbox().client().resource(STATEFUL_SET).delete();
  }

  @Test
  void aPodKeepsItsVolumeWhileTheDriverIsReplaced() {
    claim("claim", "late", "Filesystem");
    start("user", HEARTBEAT, CLAIMED);
    await("first write").untilAsserted(() -> assertThat(log("user")).contains("beat 1"));

    List<String> before = installation().driverPods();
    before.forEach(pod -> client.pods().inNamespace(Installation.NAMESPACE).withName(pod).delete());
    await("new driver pod")
        .untilAsserted(() -> assertThat(installation().readyDriverPods()).isNotEmpty());
    assertThat(installation().readyDriverPods()).doesNotContainAnyElementsOf(before);

    int beats = beats("user");
    await("later writes").untilAsserted(() -> assertThat(beats("user")).isGreaterThan(beats + 2));
    assertThat(log("user")).doesNotContain("failed");
    delete("user");
    assertThat(run("reader", "cat /data/file", CLAIMED)).contains("beat 1");
  }

  @Test
  void aPodKeepsItsVolumeWhileKubeletRestarts() {
    claim("claim", "late", "Filesystem");
    start("user", HEARTBEAT, CLAIMED);
    await("first write").untilAsserted(() -> assertThat(log("user")).contains("beat 1"));

    node.restartKubelet();

    int beats = beats("user");
    await("later writes").untilAsserted(() -> assertThat(beats("user")).isGreaterThan(beats + 2));
    assertThat(log("user")).doesNotContain("failed");
    delete("user");
    assertThat(run("reader", "cat /data/file", CLAIMED)).contains("beat 1");
  }

  private void claim(String name, String storageClass, String mode) {
    sandbox().client().resource(CLAIM.formatted(name, storageClass, mode)).create();
  }

  private String claimPhase() {
    return claimPhase("claim");
  }

  private String claimPhase(String name) {
    return sandbox().client().persistentVolumeClaims().withName(name).get().getStatus().getPhase();
  }

  private static String pod(String name, String command, String volume) {
    return POD.formatted(name, command, volume);
  }

  private void start(String name, String command, String volume) {
    sandbox().client().resource(pod(name, command, volume)).create();
  }

  /** Runs a pod to its end, deletes it, and returns what it printed. */
  private String run(String name, String command, String volume) {
    return complete(pod(name, command, volume));
  }

  private String complete(String yaml) {
    HasMetadata pod = sandbox().client().resource(yaml).create();
    String name = pod.getMetadata().getName();
    await("end of " + name)
        .untilAsserted(
            () -> {
              Pod found = sandbox().client().pods().withName(name).get();
              assertThat(found.getStatus().getPhase())
                  .as("phase; %s", found.getStatus())
                  .isEqualTo("Succeeded");
            });
    String log = log(name);
    delete(name);
    return log;
  }

  private void delete(String pod) {
    sandbox().client().pods().withName(pod).delete();
    await("deleted pod " + pod)
        .untilAsserted(() -> assertThat(sandbox().client().pods().withName(pod).get()).isNull());
  }

  /** What a pod has printed; nothing before its container has started. */
  private String log(String pod) {
    try {
      return sandbox().client().pods().withName(pod).getLog();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_BAD_REQUEST) {
        return "";
      }
      throw e;
    }
  }

  private int beats(String pod) {
    return (int) log(pod).lines().filter(line -> line.startsWith("beat")).count();
  }

  /** Volumes and their records in the directory of the driver. */
  private List<Path> stateFiles() {
    Path state = node.state().resolve(Installation.DRIVER);
    if (!Files.isDirectory(state)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(state)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !file.getFileName().toString().equals("lock"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + state, e);
    }
  }

  private Installation installation() {
    return Objects.requireNonNull(installed);
  }

  private Sandbox sandbox() {
    return Objects.requireNonNull(namespace);
  }
}
