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
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * What tests of pods with volumes share: a node, storage classes, and a namespace for each test.
 */
@WithRealNode
@TestInstance(Lifecycle.PER_CLASS)
abstract class PodTests {

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
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: expandable}
      provisioner: pmem-csi.intel.com
      parameters: {csi.storage.k8s.io/fstype: xfs}
      reclaimPolicy: Delete
      volumeBindingMode: WaitForFirstConsumer
      allowVolumeExpansion: true
      """;

  /** Name, storage class, volume mode, size. */
  private static final String CLAIM =
      """
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: %s}
      spec:
        storageClassName: %s
        volumeMode: %s
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: %s}}
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

  static final String CLAIMED = "persistentVolumeClaim: {claimName: claim}";

  /** Writes a line per second, to the volume and to the log. */
  static final String HEARTBEAT =
      "i=0; while sleep 1; do i=$((i+1)); echo beat $i >> /data/file && sync || echo failed;"
          + " echo beat $i; done";

  final RealNode node;
  final KubernetesClient client;
  private @Nullable Sandbox namespace;

  PodTests(RealNode node) {
    this.node = node;
    this.client = node.client();
  }

  @BeforeAll
  void createClasses() {
    client.resourceList(CLASSES).create();
  }

  @AfterAll
  void deleteClasses() {
    client.resourceList(CLASSES).delete();
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

  void claim(String name, String storageClass, String mode) {
    claim(name, storageClass, mode, "64Mi");
  }

  void claim(String name, String storageClass, String mode, String size) {
    sandbox().client().resource(CLAIM.formatted(name, storageClass, mode, size)).create();
  }

  String claimPhase() {
    return claimPhase("claim");
  }

  String claimPhase(String name) {
    return sandbox().client().persistentVolumeClaims().withName(name).get().getStatus().getPhase();
  }

  static String pod(String name, String command, String volume) {
    return POD.formatted(name, command, volume);
  }

  void start(String name, String command, String volume) {
    sandbox().client().resource(pod(name, command, volume)).create();
  }

  /** Runs a pod to its end, deletes it, and returns what it printed. */
  String run(String name, String command, String volume) {
    return complete(pod(name, command, volume));
  }

  String complete(String yaml) {
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

  void delete(String pod) {
    sandbox().client().pods().withName(pod).delete();
    await("deleted pod " + pod)
        .untilAsserted(() -> assertThat(sandbox().client().pods().withName(pod).get()).isNull());
  }

  /** What a pod has printed; nothing before its container has started. */
  String log(String pod) {
    try {
      return sandbox().client().pods().withName(pod).getLog();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_BAD_REQUEST) {
        return "";
      }
      throw e;
    }
  }

  int beats(String pod) {
    return (int) log(pod).lines().filter(line -> line.startsWith("beat")).count();
  }

  List<Path> stateFiles() {
    return stateFiles(Installation.DRIVER);
  }

  /** Volumes and their records in the directory of a driver. */
  List<Path> stateFiles(String driver) {
    Path state = node.state().resolve(driver);
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

  Sandbox sandbox() {
    return Objects.requireNonNull(namespace);
  }
}
