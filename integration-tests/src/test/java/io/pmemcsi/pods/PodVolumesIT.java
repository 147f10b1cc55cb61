package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.node.RealNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What users do with volumes, from the installation of the operator to its removal. */
class PodVolumesIT extends PodTests {

  /** With a controller; its webhook is of no use, because kube-scheduler does not know it. */
  private static final String RESOURCE =
      Installation.sample(
          "pmem-csi.yaml",
          "resizerImage: " + StandIns.RESIZER,
          "controllerTLS: {managed: true}",
          "mutatePods: Never");

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

  private static final String FROM_TEMPLATE = "from-template.pmem-csi.intel.com";

  private static final String TEMPLATE_DRIVER =
      """
      apiVersion: csidriver.storage.openshift.io/v1alpha1
      kind: CSIDriverDeployment
      metadata: {name: from-template}
      spec:
        driverName: %1$s
        driverSocket: /csi/csi.sock
        containerImages: {driverRegistrarImage: %2$s}
        csiDriver: {attachRequired: false, podInfoOnMount: true}
        driverPerNodeTemplate:
          spec:
            serviceAccountName: hostpath
            containers:
            - name: driver
              image: pmem-csi-driver:canary
              args:
              - -mode=node
              - -deviceManager=file
              - -endpoint=unix:///csi/csi.sock
              - -nodeid=$(NODE_NAME)
              - -drivername=%1$s
              - -statePath=/var/lib/%1$s
              - -pmemPercentage=50
              env: [{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
              securityContext: {privileged: true, runAsUser: 0}
              volumeMounts:
              - {name: state, mountPath: /var/lib/%1$s, mountPropagation: Bidirectional}
              - {name: devices, mountPath: /dev}
            - name: provisioner
              image: %3$s
              args:
              - --csi-address=/csi/csi.sock
              - --node-deployment=true
              - --default-fstype=ext4
              - --metrics-address=:10011
              env: [{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
              securityContext: {privileged: true}
              volumeMounts: [{name: csi-driver, mountPath: /csi}]
            volumes:
            - {name: state, hostPath: {path: /var/lib/%1$s, type: DirectoryOrCreate}}
            - {name: devices, hostPath: {path: /dev}}
        storageClassTemplates:
        - metadata: {name: from-template}
          volumeBindingMode: WaitForFirstConsumer
      """
          .formatted(FROM_TEMPLATE, StandIns.REGISTRAR, StandIns.PROVISIONER);

  private final Path work;
  private final List<String> mountsBefore;
  private @Nullable Installation installed;

  PodVolumesIT(RealNode node, @TempDir Path work) {
    super(node);
    this.work = work;
    this.mountsBefore = node.mounts();
  }

  @BeforeAll
  void install() throws Exception {
    // all that is ever logged: no key may be in it
    installed = Installation.install(node, work, 5);
    installed.run(RESOURCE);
  }

  /** What a user sees at the end: nothing of all that was installed is left on the node. */
  @AfterAll
  void uninstall() {
    installation().delete(RESOURCE);
    installation().uninstall();
    await("node as it was before")
        .untilAsserted(() -> assertThat(node.mounts()).hasSameSizeAs(mountsBefore));
    assertThat(node.state().resolve("kubelet/plugins_registry")).isEmptyDirectory();
    assertThat(stateFiles()).isEmpty();
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
  void aPodThatIsNotRootWritesToAnInlineVolumeWithItsGroup() {
    String pod =
        pod(
                "inline-group",
                "echo written > /data/file; cat /data/file",
                "csi: {driver: pmem-csi.intel.com, volumeAttributes: {size: 64Mi}}")
            .replace(
                "restartPolicy: Never",
                "restartPolicy: Never\n"
                    + "  securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000}");

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
    start(
        "reader",
        "while sleep 1; do cat /proc/mounts /data/file; touch /data/other 2>&1; done",
        "persistentVolumeClaim: {claimName: claim, readOnly: true}");
    await("read-only volume")
        .untilAsserted(
            () ->
                assertThat(log("reader"))
                    .contains("written")
                    .contains("/data ext4 ro,")
                    .contains("Read-only file system"));

    assertPublishedReadOnly();

    replaceDriver();

    String before = log("reader");
    await("later attempts")
        .untilAsserted(
            () ->
                assertThat(log("reader").substring(before.length()))
                    .contains("written\ntouch: /data/other: Read-only file system\n"));
    assertThat(log("reader").lines().filter(line -> line.contains(" /data ")))
        .allMatch(line -> line.contains(" ext4 ro,"));
    assertPublishedReadOnly();
    delete("reader");
    assertThat(run("later", "ls /data", CLAIMED)).doesNotContain("other");
  }

  /** The driver's own mount: the container runtime mounts it read-only once more. */
  private void assertPublishedReadOnly() {
    assertThat(node.mounts().stream().map(mount -> mount.split(" ", -1)))
        .filteredOn(mount -> mount[4].contains("kubernetes.io~csi"))
        .isNotEmpty()
        .allSatisfy(mount -> assertThat(mount[5]).startsWith("ro,"));
  }

  /** With xfs, because the kernel requires a capability for ext4 that some machines lack. */
  @Test
  void aPodSeesItsFilesystemExpandWithTheClaim() {
    claim("claim", "expandable", "Filesystem", "320Mi");
    start(
        "user",
        "echo kept > /data/file; while sleep 1; do"
            + " echo $(stat -f -c %b /data) $(cat /data/file); done",
        CLAIMED);
    await("running pod").untilAsserted(() -> assertThat(log("user")).contains("kept"));
    long before = lastBlocks("user");

    request("640Mi");

    awaitCapacity("640Mi");
    await("expanded filesystem")
        .untilAsserted(() -> assertThat(lastBlocks("user")).isGreaterThan(before * 3 / 2));
    assertThat(log("user").lines()).allMatch(line -> line.endsWith("kept"));
    delete("user");
  }

  /** Changes the request of the claim. */
  private void request(String size) {
    sandbox()
        .client()
        .persistentVolumeClaims()
        .withName("claim")
        .edit(
            claim -> {
              claim.getSpec().getResources().setRequests(Map.of("storage", new Quantity(size)));
              return claim;
            });
  }

  private void awaitCapacity(String size) {
    await("expanded claim")
        .untilAsserted(
            () ->
                assertThat(
                        sandbox()
                            .client()
                            .persistentVolumeClaims()
                            .withName("claim")
                            .get()
                            .getStatus()
                            .getCapacity())
                    .containsEntry("storage", new Quantity(size)));
  }

  @Test
  void aRawBlockVolumeExpandsWithTheClaim() {
    claim("claim", "expandable", "Block");
    sandbox()
        .client()
        .resource(
            pod("user", "while sleep 1; do blockdev --getsize64 /dev/data; done", CLAIMED)
                .replace(
                    "volumeMounts: [{name: data, mountPath: /data}]",
                    "volumeDevices: [{name: data, devicePath: /dev/data}]"))
        .create();
    await("device").untilAsserted(() -> assertThat(log("user")).contains("67108864"));

    request("128Mi");

    awaitCapacity("128Mi");
    await("expanded device").untilAsserted(() -> assertThat(log("user")).contains("134217728"));
    delete("user");
  }

  @Test
  void anExpansionThatIsRefusedIsAnEventOfThePod() {
    String kata =
        """
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: kata}
        provisioner: pmem-csi.intel.com
        parameters: {kataContainers: "true"}
        volumeBindingMode: WaitForFirstConsumer
        allowVolumeExpansion: true
        """;
    client.resource(kata).create();
    try {
      claim("claim", "kata", "Filesystem");
      start("user", "echo started; exec sleep 1000000", CLAIMED);
      await("running pod").untilAsserted(() -> assertThat(log("user")).contains("started"));

      request("128Mi");

      awaitRefusal("image file for Kata Containers");
      delete("user");
    } finally {
      client.resource(kata).delete();
    }
    sandbox().client().persistentVolumeClaims().withName("claim").delete();
    await("deleted claim")
        .untilAsserted(
            () ->
                assertThat(sandbox().client().persistentVolumeClaims().withName("claim").get())
                    .isNull());
    claim("claim", "expandable", "Block");
    sandbox()
        .client()
        .resource(
            pod("user", "echo started; exec sleep 1000000", CLAIMED)
                .replace(
                    "volumeMounts: [{name: data, mountPath: /data}]",
                    "volumeDevices: [{name: data, devicePath: /dev/data}]"))
        .create();
    await("running pod").untilAsserted(() -> assertThat(log("user")).contains("started"));

    request("1Pi");

    awaitRefusal("not enough space for 1125899906842624 bytes");
    delete("user");
  }

  private void awaitRefusal(String reason) {
    await("event of the pod")
        .untilAsserted(
            () ->
                assertThat(sandbox().client().v1().events().list().getItems())
                    .filteredOn(event -> "Pod".equals(event.getInvolvedObject().getKind()))
                    .filteredOn(event -> "VolumeResizeFailed".equals(event.getReason()))
                    .extracting(Event::getMessage)
                    .anySatisfy(message -> assertThat(message).contains(reason)));
  }

  @Test
  void theStartupTaintIsRemovedWhenTheDriverIsReady() {
    client
        .nodes()
        .withName(node.name())
        .edit(
            tainted -> {
              tainted
                  .getSpec()
                  .getTaints()
                  .add(new Taint("NoSchedule", Installation.DRIVER + "/agent-not-ready", null, ""));
              return tainted;
            });
    List<String> before = installation().driverPods();

    installation().change(RESOURCE.replace("spec:\n", "spec:\n  startupTaint: true\n"));

    awaitOtherDriverPods(before);
    await("node without taint")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () ->
                assertThat(client.nodes().withName(node.name()).get().getSpec().getTaints())
                    .extracting(Taint::getKey)
                    .doesNotContain(Installation.DRIVER + "/agent-not-ready"));
    claim("claim", "late", "Filesystem");
    assertThat(run("user", "echo written > /data/file; cat /data/file", CLAIMED))
        .contains("written");

    List<String> removing = installation().driverPods();
    installation().change(RESOURCE.replace("spec:\n", "spec:\n  startupTaint: false\n"));
    awaitOtherDriverPods(removing);
    installation().awaitRunning(RESOURCE);
  }

  /** The steps of docs/maintenance.md, with a volume in use. */
  @Test
  void aNodeIsTakenOutOfServiceAndComesBack(@TempDir Path cache) throws Exception {
    var kubectl = new Kubectl(node.cluster(), Path.of(".."), cache);
    claim("claim", "late", "Filesystem");
    start("user", HEARTBEAT, CLAIMED);
    await("first write").untilAsserted(() -> assertThat(log("user")).contains("beat 1"));

    kubectl.run("cordon", node.name());
    try {
      assertThat(installation().pmemCsi(List.of(0, 1), "status"))
          .containsPattern(sandbox().namespace() + "/claim .* " + node.name() + " +user");

      delete("user");
      sandbox().client().persistentVolumeClaims().withName("claim").delete();
      await("deleted volume").untilAsserted(() -> assertThat(stateFiles()).isEmpty());
      kubectl.run("label", "node", node.name(), "storage-");
      await("no driver")
          .atMost(Installation.LIMIT)
          .untilAsserted(() -> assertThat(installation().driverPods()).isEmpty());
    } finally {
      kubectl.run("label", "--overwrite", "node", node.name(), "storage=pmem");
      kubectl.run("uncordon", node.name());
    }

    installation().awaitRunning(RESOURCE);
    Installation.awaitRegistered(node);
    claim("again", "late", "Filesystem");
    assertThat(
            run(
                "later",
                "echo written > /data/file; cat /data/file",
                CLAIMED.replace("claim}", "again}")))
        .contains("written");
  }

  /** The size of the filesystem that a pod has printed last. */
  private long lastBlocks(String pod) {
    return Long.parseLong(log(pod).lines().reduce("0", (_, last) -> last).split(" ", 2)[0]);
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

    replaceDriver();

    int beats = beats("user");
    await("later writes").untilAsserted(() -> assertThat(beats("user")).isGreaterThan(beats + 2));
    assertThat(log("user")).doesNotContain("failed");
    delete("user");
    assertThat(run("reader", "cat /data/file", CLAIMED)).contains("beat 1");
  }

  private void replaceDriver() {
    List<String> before = installation().driverPods();
    before.forEach(pod -> client.pods().inNamespace(Installation.NAMESPACE).withName(pod).delete());
    awaitOtherDriverPods(before);
  }

  private void awaitOtherDriverPods(List<String> before) {
    await("new driver pod")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () ->
                assertThat(installation().readyDriverPods())
                    .isNotEmpty()
                    .doesNotContainAnyElementsOf(before));
  }

  @Test
  void aPodKeepsItsVolumeWhileTheDriverIsUpdated() {
    claim("claim", "late", "Filesystem");
    start("user", HEARTBEAT, CLAIMED);
    await("first write").untilAsserted(() -> assertThat(log("user")).contains("beat 1"));
    List<String> before = installation().driverPods();

    installation().change(RESOURCE.replace("spec:\n", "spec:\n  logLevel: 4\n"));

    awaitOtherDriverPods(before);
    installation().awaitRunning(RESOURCE);
    assertThat(
            client
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withName(installation().readyDriverPods().getFirst())
                .get()
                .getSpec()
                .getContainers()
                .getFirst()
                .getArgs())
        .contains("-v=4");
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

  @Test
  void aPodStartsAgainWithItsVolumeAfterAReboot() {
    claim("claim", "late", "Filesystem");
    sandbox()
        .client()
        .resource(
            pod(
                    "user",
                    "cat /data/file; echo written >> /data/file && sync && echo ready;"
                        + " exec sleep 1000000",
                    CLAIMED)
                .replace("restartPolicy: Never", "restartPolicy: Always"))
        .create();
    await("first start").untilAsserted(() -> assertThat(log("user")).contains("ready"));

    node.reboot();

    await("second start")
        .atMost(Installation.LIMIT)
        .untilAsserted(() -> assertThat(log("user")).contains("written").contains("ready"));
    await("running driver")
        .atMost(Installation.LIMIT)
        .untilAsserted(() -> assertThat(installation().readyDriverPods()).isNotEmpty());
    delete("user");
  }

  /** The commands in the documentation, from the storage class to the pod. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          storageclass-late-binding, pvc-late-binding, app-late-binding | ext4
          storageclass-ext4, storageclass-xfs, pvc-ext4, pvc-xfs, app | ext4, xfs
          app-ephemeral | xfs
          storageclass-late-binding, app-generic-ephemeral | ext4
          """)
  void theSamplesWork(String files, String filesystems, @TempDir Path work) throws IOException {
    var kubectl = new Kubectl(node.cluster(), Path.of(".."), work);
    String in = "--namespace=" + sandbox().namespace();
    List<String> samples = new ArrayList<>();
    for (String file : files.split(", ", -1)) {
      samples.add(sample("pmem-%s.yaml".formatted(file), work));
    }
    samples.forEach(file -> kubectl.run(in, "apply", "-f", file));

    List<String> pods =
        kubectl.run(in, "get", "pods", "-o=name").lines().map(pod -> pod.substring(4)).toList();
    for (String pod : pods) {
      await("running " + pod)
          .untilAsserted(
              () ->
                  assertThat(sandbox().client().pods().withName(pod).get().getStatus().getPhase())
                      .isEqualTo("Running"));
      kubectl.run(in, "exec", pod, "--", "sh", "-c", "echo written > /data/file; sync");
      assertThat(kubectl.run(in, "exec", pod, "--", "cat", "/data/file")).contains("written");
    }
    assertThat(pods)
        .extracting(pod -> kubectl.run(in, "exec", pod, "--", "df", "-T", "/data"))
        .zipSatisfy(
            List.of(filesystems.split(", ", -1)),
            (output, filesystem) -> assertThat(output).contains(" %s ".formatted(filesystem)));
    samples
        .reversed()
        .forEach(file -> kubectl.run(in, "delete", "--grace-period=0", "--force", "-f", file));
  }

  /** A claim without an application among the samples. */
  @Test
  void theSampleWithImmediateBindingIsBound(@TempDir Path work) {
    var kubectl = new Kubectl(node.cluster(), Path.of(".."), work);
    String in = "--namespace=" + sandbox().namespace();
    String[] files = {
      "-f", "deploy/common/pmem-storageclass.yaml", "-f", "deploy/common/pmem-pvc.yaml"
    };

    kubectl.run(in, "apply", files[0], files[1], files[2], files[3]);

    await("bound claim")
        .untilAsserted(() -> assertThat(claimPhase("pmem-csi-pvc")).isEqualTo("Bound"));
    kubectl.run(in, "delete", files[0], files[1], files[2], files[3]);
  }

  /** A sample with an image that the node has. */
  private String sample(String name, Path work) throws IOException {
    return Files.writeString(
            work.resolve(name),
            Files.readString(Path.of("../deploy/common").resolve(name))
                .replaceAll("image: docker.io/library/busybox.*", "image: " + node.busybox()))
        .toString();
  }

  @Test
  void aMigratedDriverKeepsVolumesClaimsAndPods() throws Exception {
    try (var driver = new CentralDriver(node, installation(), work)) {
      driver.install();
      assertThat(driver.readyContainers())
          .isEqualTo(Map.of("pmem-deployment-controller-0", "2/2", "pmem-deployment-node", "2/2"));
      claim("claim", CentralDriver.STORAGE_CLASS, "Filesystem", "320Mi");
      claim("unused", CentralDriver.STORAGE_CLASS, "Filesystem", "320Mi");
      String unused = CLAIMED.replace("claim}", "unused}");
      run("writer", "echo written > /data/file && sync", unused);
      start("user", HEARTBEAT, CLAIMED);
      await("first write").untilAsserted(() -> assertThat(log("user")).contains("beat 1"));
      driver.assertNoKeyIsShown();

      driver.migrate();

      int beats = beats("user");
      await("later writes").untilAsserted(() -> assertThat(beats("user")).isGreaterThan(beats + 2));
      assertThat(log("user")).doesNotContain("failed");
      delete("user");
      assertThat(run("reader", "cat /data/file", CLAIMED)).contains("beat 1\n");
      assertThat(run("later", "cat /data/file", unused)).contains("written");
      claim("new", CentralDriver.STORAGE_CLASS, "Filesystem", "320Mi");
      run("newcomer", "echo written > /data/file", CLAIMED.replace("claim}", "new}"));
      sandbox().client().persistentVolumeClaims().delete();
      await("deleted volumes")
          .untilAsserted(
              () -> {
                assertThat(client.persistentVolumes().list().getItems()).isEmpty();
                assertThat(stateFiles(CentralDriver.DRIVER)).isEmpty();
              });
      driver.uninstall();
    }
  }

  /** The same driver, described by a pod template instead of a resource of its own. */
  @Test
  void aDriverFromATemplateServesVolumes() throws IOException {
    String account =
        Files.readString(Path.of("../deploy/samples/accounts/hostpath.yaml"))
            .replace("namespace: default", "namespace: " + sandbox().namespace());
    // the roles may be there already: the tests of the guide use the same node and sample
    client.resourceList(account).forceConflicts().serverSideApply();
    sandbox().client().resource(TEMPLATE_DRIVER).create();
    claim("claim", "from-template", "Filesystem");

    assertThat(run("pod", "echo written > /data/file; cat /data/file; df -T /data", CLAIMED))
        .contains("written")
        .contains("ext4");

    sandbox().client().persistentVolumeClaims().withName("claim").delete();
    await("deleted volume")
        .untilAsserted(() -> assertThat(client.persistentVolumes().list().getItems()).isEmpty());
    sandbox().client().resource(TEMPLATE_DRIVER).delete();
    await("deleted driver")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () -> {
              assertThat(sandbox().client().resource(TEMPLATE_DRIVER).get()).isNull();
              assertThat(client.storage().v1().csiDrivers().withName(FROM_TEMPLATE).get()).isNull();
              assertThat(sandbox().client().pods().list().getItems()).isEmpty();
            });
    client.resourceList(account).delete();
  }

  private Installation installation() {
    return Objects.requireNonNull(installed);
  }
}
