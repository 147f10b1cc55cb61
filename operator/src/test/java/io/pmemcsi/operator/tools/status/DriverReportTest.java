package io.pmemcsi.operator.tools.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverReportTest {

  private static final KubernetesSerialization SERIALIZATION =
      new KubernetesSerialization(new ObjectMapper(), true);

  private static final long GIB = 1L << 30;

  private static final String RUNNING =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata: {name: pmem-csi.intel.com}
      status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
      """;

  private final List<GenericKubernetesResource> snapshots = new ArrayList<>();
  private final List<GenericKubernetesResource> capacities = new ArrayList<>();
  private final List<CSINode> nodes = new ArrayList<>();
  private final List<StorageClass> classes = new ArrayList<>();
  private final List<PersistentVolume> volumes = new ArrayList<>();
  private final List<PersistentVolumeClaim> claims = new ArrayList<>();
  private final List<Pod> pods = new ArrayList<>();
  private final List<Event> warnings = new ArrayList<>();
  private final Map<String, NodeMetrics> metrics = new HashMap<>();

  @Test
  void aRunningDriverHasNoProblem() {
    DriverReport report = pmem("{phase: Running, conditions: [{type: Ready, status: 'True'}]}");

    assertThat(report.problems()).isEmpty();
    assertThat(report.phase()).isEqualTo("Running");
  }

  @Test
  void aNewResourceHasAProblem() {
    assertThat(pmem("{}").problems())
        .containsExactly("No operator has observed the resource: check that the operator runs");
  }

  @Test
  void aComponentThatIsNotReadyIsAProblem() {
    DriverReport report =
        pmem(
            """
            phase: Initializing
            reason: 0 out of 1 driver pods are ready; image cannot be pulled
            conditions: [{type: Ready, status: 'False', reason: Initializing}]
            driverComponents:
            - component: Node
              status: NotReady
              reason: 0 out of 1 driver pods are ready; image cannot be pulled
            """);

    assertThat(report.problems())
        .containsExactly(
            "Node is NotReady: 0 out of 1 driver pods are ready; image cannot be pulled");
  }

  @ParameterizedTest
  @CsvSource({"Initializing", "Terminating"})
  void aDriverThatIsNotReadyForNoKnownReasonHasAProblem(String phase) {
    DriverReport report =
        pmem(
            "{phase: %s, reason: wait, conditions: [{type: Ready, status: 'False'}]}"
                .formatted(phase));

    assertThat(report.problems()).containsExactly(phase + ": wait");
  }

  @Test
  void aFailureIsReportedOnce() {
    DriverReport report =
        pmem(
            """
            phase: Failed
            reason: the image is not allowed
            conditions:
            - {type: Ready, status: 'False', message: the image is not allowed}
            - {type: DriverDeployed, status: 'False', reason: the image is not allowed}
            """);

    assertThat(report.problems()).containsExactly("Failed: the image is not allowed");
  }

  @ParameterizedTest
  @CsvSource({
    "NodesLost, True",
    "SnapshotClassesMissing, True",
    "DeletionHeld, True",
    "Contested, True",
    "DriverDeployed, False",
    "CertsVerified, False",
    "NodesExclusive, False"
  })
  void aBadConditionOfARunningDriverIsAProblem(String type, String status) {
    DriverReport report =
        pmem(
            """
            phase: Running
            conditions:
            - {type: Ready, status: 'True'}
            - {type: %s, status: '%s', reason: Short, message: do this}
            """
                .formatted(type, status));

    assertThat(report.problems()).containsExactly("%s is %s: do this".formatted(type, status));
  }

  @Test
  void aStatusOfAnEarlierGenerationIsAProblem() {
    DriverReport report =
        report(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: pmem-csi.intel.com, generation: 4}
            status:
              phase: Running
              conditions: [{type: Ready, status: 'True', observedGeneration: 3}]
            """);

    assertThat(report.problems())
        .containsExactly(
            "The status is of generation 3, the resource has 4: if that stays so, check that the"
                + " operator runs");
  }

  @Test
  void aNodeWithoutMemoryIsReportedWithItsReason() {
    DriverReport report =
        pmem("{phase: Running, unpreparedNodes: [{node: worker-2, reason: run ndctl}]}");

    assertThat(report.problems())
        .containsExactly("Node worker-2 runs the driver but has no memory: run ndctl");
  }

  @ParameterizedTest
  @CsvSource({
    "Managed, True, True, Available",
    "Managed, True, False, NotAvailable",
    "Managed, False, True, Failed",
    "Unmanaged, True, True, Unmanaged",
    "Removed, True, True, Removed"
  })
  void aDriverFromATemplateHasAPhase(
      String state, String synced, String available, String expected) {
    DriverReport report = template(state, synced, available, "{}");

    assertThat(report.driver()).isEqualTo("nfs.csi.k8s.io");
    assertThat(report.resource()).isEqualTo("CSIDriverDeployment storage/nfs");
    assertThat(report.phase()).isEqualTo(expected);
    assertThat(report.problems().isEmpty())
        .isEqualTo(synced.equals("True") && available.equals("True"));
  }

  @Test
  void anUpdateOfNodesShowsItsProgress() {
    DriverReport report =
        template(
            "Managed",
            "True",
            "True",
            """
            {nodes: 5, updatedNodes: 3, message: one node at a time, outdated: [
              {node: w4, step: Evicting, since: '2026-01-01T00:00:00Z', message: pod shop/db},
              {node: w5}]}
            """);

    assertThat(report.progress())
        .containsExactly(
            "3 of 5 nodes are updated: one node at a time",
            "Node w4: Evicting since 2026-01-01T00:00:00Z: pod shop/db");
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void aPausedUpdateIsAProblem() {
    DriverReport report =
        template(
            "Managed",
            "True",
            "True",
            "{nodes: 2, updatedNodes: 1, paused: true, message: shop/db does not leave}");

    assertThat(report.problems())
        .containsExactly("The update of the nodes is paused: shop/db does not leave");
  }

  @ParameterizedTest
  @CsvSource({"'', legacy", "'spec: {driverName: other.example.com}', other.example.com"})
  void aLegacyDriverIsNamedAfterItsResourceOrField(String spec, String expected) {
    DriverReport report =
        report(
            """
            apiVersion: pmem-csi.intel.com/v1alpha1
            kind: Deployment
            metadata: {name: legacy}
            %s
            """
                .formatted(spec));

    assertThat(report.driver()).isEqualTo(expected);
  }

  @Test
  void lostNodesAreListedWithWhatIsLeftOnThem() {
    volume("pvc-1", "Bound", "Delete", "worker-9");

    DriverReport report =
        pmem(
            """
            phase: Running
            conditions: [{type: NodesLost, status: 'True', message: 1 volumes are bound}]
            lostNodes:
            - {node: worker-9, since: '2026-01-01T00:00:00Z',
               volumes: {count: 1}, claims: {count: 1}, pods: {count: 0}}
            """);

    assertThat(report.problems()).containsExactly("NodesLost is True: 1 volumes are bound");
    assertThat(report.progress())
        .containsExactly(
            "Node worker-9 does not exist since 2026-01-01T00:00:00Z: 1 volumes, 1 claims and 0"
                + " pods are left");
    assertThat(report.nodes())
        .containsExactly(new NodeReport("worker-9", NodeReport.State.LOST, 4 * GIB, null, null));
  }

  @Test
  void aVolumeThatIsKeptIsAProblem() {
    volume("pvc-1", "Released", "Retain", "worker-1");
    registered("worker-1");

    DriverReport report = running();

    assertThat(report.problems())
        .containsExactly(
            "Volume pvc-1 is kept after its claim shop/data was deleted: delete it if its data is"
                + " not needed");
    assertThat(report.progress()).isEmpty();
  }

  @Test
  void aVolumeThatIsBeingDeletedIsWorkInProgress() {
    volume("pvc-1", "Released", "Delete", "worker-1");
    registered("worker-1");

    DriverReport report = running();

    assertThat(report.problems()).isEmpty();
    assertThat(report.progress())
        .containsExactly(
            "Volume pvc-1 (4 GiB) on node worker-1 is being erased and deleted since"
                + " 2026-01-01T00:00:00Z");
  }

  @Test
  void aVolumeThatCannotBeDeletedIsAProblem() {
    volume("pvc-1", "Released", "Delete", "worker-1");
    registered("worker-1");
    warning("PersistentVolume", "name: pvc-1", "2026-01-01T00:00:01Z", "device is in use");
    warning("PersistentVolume", "name: pvc-1", "2026-01-01T00:00:00Z", "an older message");
    warning("PersistentVolume", "name: pvc-2", "2026-01-01T00:00:02Z", "another volume");

    assertThat(running().problems())
        .containsExactly("Volume pvc-1 is not deleted yet: device is in use");
  }

  @ParameterizedTest
  @CsvSource({"Aborted", "Canceled", "DeadlineExceeded"})
  void anEraseThatTakesLongIsNoProblem(String code) {
    volume("pvc-1", "Released", "Delete", "worker-1");
    registered("worker-1");
    warning("PersistentVolume", "name: pvc-1", "2026-01-01T00:00:01Z", "rpc error code = " + code);

    DriverReport report = running();

    assertThat(report.problems()).isEmpty();
    assertThat(report.progress()).hasSize(1);
  }

  @Test
  void aClaimThatWaitsIsNotCountedAsUsed() {
    registered("worker-1");
    storageClass();
    claim("Pending", "{}");
    pod("app", "Pending", "{name: data, persistentVolumeClaim: {claimName: data}}");
    warning(
        "PersistentVolumeClaim",
        "name: data, namespace: shop",
        "2026-01-01T00:00:00Z",
        "not enough space");

    DriverReport report = running();

    assertThat(report.problems())
        .containsExactly("Claim shop/data waits for a volume: not enough space");
    assertThat(report.nodes().getFirst().used()).isZero();
  }

  @Test
  void anExpansionIsWorkInProgress() {
    registered("worker-1");
    storageClass();
    volume("pvc-1", "Bound", "Delete", "worker-1");
    claim("Bound", "{storage: 4Gi}");

    assertThat(running().progress())
        .containsExactly("Claim shop/data is being expanded from 4 GiB to 8 GiB");
  }

  @Test
  void inlineVolumesAreListedAndCounted() {
    registered("worker-1");
    pod("web", "Running", inline("pmem-csi.intel.com", "2Gi"));
    pod("other", "Running", inline("other.example.com", "1Gi"));
    pod("starting", "Pending", inline("pmem-csi.intel.com", "8Gi"));
    pod("done", "Succeeded", inline("pmem-csi.intel.com", "16Gi"));
    pod("wrong", "Running", inline("pmem-csi.intel.com", "large"));

    DriverReport report = running();

    assertThat(report.volumes())
        .extracting(VolumeReport::name, VolumeReport::phase, VolumeReport::node)
        .containsExactly(
            tuple("shop/starting:scratch", "Pending", "worker-1"),
            tuple("shop/web:scratch", "Inline", "worker-1"),
            tuple("shop/wrong:scratch", "Inline", "worker-1"));
    assertThat(report.nodes().getFirst().used()).isEqualTo(2 * GIB);
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void snapshotsAreListedAndCounted() {
    registered("worker-1");
    volume("pvc-1", "Bound", "Delete", "worker-1");
    snapshot("nightly", "h-pvc-1", "", "{readyToUse: true, restoreSize: 1073741824}");
    snapshot("orphan", "gone", "worker-1", "{readyToUse: true, restoreSize: 2147483648}");
    snapshot("new", "h-pvc-1", "worker-1", "{}");
    snapshot("bad", "h-pvc-1", "worker-1", "{error: {message: not enough space}}");

    DriverReport report = running();

    assertThat(report.nodes().getFirst().used()).isEqualTo(7 * GIB);
    assertThat(report.snapshots())
        .contains(
            new SnapshotReport("shop/nightly", true, GIB, "pvc-1", "worker-1", ""),
            new SnapshotReport("shop/orphan", true, 2 * GIB, "", "worker-1", ""));
    assertThat(report.progress())
        .containsExactly("Snapshot shop/new is being copied from volume pvc-1");
    assertThat(report.problems()).containsExactly("Snapshot shop/bad: not enough space");
  }

  @Test
  void aNodeWhereTheDriverIsNotRegisteredIsListed() {
    driverPod("worker-2");
    volume("pvc-1", "Bound", "Delete", "worker-3");

    DriverReport report = running();

    assertThat(report.nodes())
        .extracting(NodeReport::node, NodeReport::state)
        .containsExactly(
            tuple("worker-2", NodeReport.State.NOT_REGISTERED),
            tuple("worker-3", NodeReport.State.NOT_REGISTERED));
    assertThat(report.problems())
        .containsExactly(
            "The driver is not registered on node worker-2: check its pod"
                + " pmem-csi/driver-worker-2",
            "Node worker-3 has volumes, but the driver does not run there: they cannot be used or"
                + " deleted");
  }

  @ParameterizedTest
  @CsvSource({"storage, 1", "elsewhere, 0"})
  void thePodsOfADriverFromATemplateAreInItsNamespace(String namespace, int expected) {
    pods.add(
        parse(
            """
            metadata:
              name: nfs-node-x
              namespace: %s
              labels: {csidriver.storage.openshift.io/daemonset: nfs-node}
            spec: {nodeName: worker-1}
            """
                .formatted(namespace),
            Pod.class));

    assertThat(template("Managed", "True", "True", "{}").nodes()).hasSize(expected);
  }

  @Test
  void aZoneIsNotANode() {
    volumes.add(
        parse(
            """
            metadata: {name: pvc-1}
            spec:
              capacity: {storage: 4Gi}
              csi: {driver: pmem-csi.intel.com, volumeHandle: h}
              nodeAffinity:
                required:
                  nodeSelectorTerms:
                  - matchExpressions:
                    - {key: topology.kubernetes.io/zone, operator: In, values: [eu-1]}
            """,
            PersistentVolume.class));

    DriverReport report = running();

    assertThat(report.nodes()).isEmpty();
    assertThat(report.volumes().getFirst().node()).isEmpty();
  }

  @Test
  void theCapacityOfANodeIsThatOfTheDriversClasses() {
    registered("worker-1");
    storageClass();
    capacity("fast", "pmem-csi.intel.com/node: worker-1", "48Gi");
    capacity("fast", "example.com/rack: worker-1", "96Gi");
    capacity("another", "pmem-csi.intel.com/node: worker-1", "192Gi");

    assertThat(running().nodes())
        .containsExactly(
            new NodeReport("worker-1", NodeReport.State.REGISTERED, 0, 48 * GIB, 40 * GIB));
  }

  @Test
  void metricsShowWhatNoCapacityObjectDoes() {
    registered("worker-1", "worker-2");
    driverPod("worker-1");
    driverPod("worker-2");
    storageClass();
    capacity("fast", "pmem-csi.intel.com/node: worker-2", "48Gi");
    metrics.put("pmem-csi/driver-worker-1", new NodeMetrics(3 * GIB, 2 * GIB, Map.of()));
    metrics.put("pmem-csi/driver-worker-2", new NodeMetrics(3 * GIB, 2 * GIB, Map.of()));

    assertThat(running().nodes())
        .containsExactly(
            new NodeReport("worker-1", NodeReport.State.REGISTERED, 0, 3 * GIB, 2 * GIB),
            new NodeReport("worker-2", NodeReport.State.REGISTERED, 0, 48 * GIB, 40 * GIB));
  }

  @Test
  void metricsShowHowFarAnEraseIs() {
    volume("pvc-1", "Released", "Delete", "worker-1");
    volume("pvc-2", "Released", "Delete", "worker-1");
    registered("worker-1");
    driverPod("worker-1");
    metrics.put("pmem-csi/driver-worker-1", new NodeMetrics(GIB, GIB, Map.of("h-pvc-1", 0.429)));

    assertThat(running().progress())
        .containsExactly(
            "Volume pvc-1 (4 GiB) on node worker-1 is being erased and deleted since"
                + " 2026-01-01T00:00:00Z: 42 % erased",
            "Volume pvc-2 (4 GiB) on node worker-1 is being erased and deleted since"
                + " 2026-01-01T00:00:00Z");
  }

  @Test
  void metricsAreReadWhereTheyShowMore() {
    registered("published", "unpublished", "erasing");
    storageClass();
    for (String node : List.of("published", "unpublished", "erasing")) {
      driverPod(node);
    }
    for (String node : List.of("published", "erasing")) {
      capacity("fast", "pmem-csi.intel.com/node: " + node, "48Gi");
    }
    volume("pvc-1", "Released", "Delete", "erasing");

    assertThat(NodeMetrics.needed(cluster(RUNNING)))
        .extracting(pod -> pod.getMetadata().getName())
        .containsExactly("driver-unpublished", "driver-erasing");
  }

  private DriverReport running() {
    return report(RUNNING);
  }

  private void driverPod(String node) {
    pods.add(
        parse(
            """
            metadata:
              name: driver-%1$s
              namespace: pmem-csi
              labels:
                app.kubernetes.io/name: pmem-csi-node
                app.kubernetes.io/instance: pmem-csi.intel.com
            spec:
              nodeName: %1$s
              containers:
              - {name: pmem-driver, ports: [{name: metrics, containerPort: 10010}]}
              - {name: provisioner, ports: [{name: metrics-prov, containerPort: 10011}]}
            """
                .formatted(node),
            Pod.class));
  }

  private DriverReport pmem(String status) {
    return report(
        """
        apiVersion: pmem-csi.intel.com/v1beta1
        kind: PmemCSIDeployment
        metadata: {name: pmem-csi.intel.com}
        status:
        %s
        """
            .formatted(status.indent(2)));
  }

  private DriverReport template(String state, String synced, String available, String nodeUpdate) {
    boolean ready = synced.equals("True") && available.equals("True");
    return report(
        """
        apiVersion: csidriver.storage.openshift.io/v1alpha1
        kind: CSIDriverDeployment
        metadata: {name: nfs, namespace: storage}
        spec: {driverName: nfs.csi.k8s.io}
        status:
          state: %s
          conditions:
          - {type: SyncSuccessful, status: '%s', message: synced}
          - {type: Available, status: '%s', message: available}
          - {type: Ready, status: '%s', message: summary}
          nodeUpdate:
        %s
        """
            .formatted(state, synced, available, ready ? "True" : "False", nodeUpdate.indent(4)));
  }

  private DriverReport report(String resource) {
    return DriverReport.of(cluster(resource)).getFirst();
  }

  private ClusterData cluster(String resource) {
    return new ClusterData(
        List.of(parse(resource, GenericKubernetesResource.class)),
        nodes,
        capacities,
        classes,
        volumes,
        claims,
        pods,
        snapshots,
        warnings,
        metrics);
  }

  private void registered(String... names) {
    Stream.of(names)
        .map(
            name ->
                "{metadata: {name: %s}, spec: {drivers: [{name: pmem-csi.intel.com, nodeID: %s}]}}"
                    .formatted(name, name))
        .map(text -> parse(text, CSINode.class))
        .forEach(nodes::add);
  }

  private void storageClass() {
    classes.add(
        parse("{metadata: {name: fast}, provisioner: pmem-csi.intel.com}", StorageClass.class));
  }

  private void capacity(String storageClass, String label, String bytes) {
    capacities.add(
        parse(
            """
            storageClassName: %s
            nodeTopology: {matchLabels: {%s}}
            capacity: %s
            maximumVolumeSize: 40Gi
            """
                .formatted(storageClass, label, bytes),
            GenericKubernetesResource.class));
  }

  private void volume(String name, String phase, String policy, String node) {
    volumes.add(
        parse(
            """
            metadata: {name: %s}
            spec:
              capacity: {storage: 4Gi}
              persistentVolumeReclaimPolicy: %s
              csi: {driver: pmem-csi.intel.com, volumeHandle: h-%s}
              claimRef: {namespace: shop, name: data}
              nodeAffinity:
                required:
                  nodeSelectorTerms:
                  - matchExpressions:
                    - {key: pmem-csi.intel.com/node, operator: In, values: [%s]}
            status: {phase: %s, lastPhaseTransitionTime: '2026-01-01T00:00:00Z'}
            """
                .formatted(name, policy, name, node, phase),
            PersistentVolume.class));
  }

  private void claim(String phase, String capacity) {
    claims.add(
        parse(
            """
            metadata:
              name: data
              namespace: shop
              annotations: {volume.kubernetes.io/selected-node: worker-1}
            spec:
              storageClassName: fast
              resources: {requests: {storage: 8Gi}}
            status: {phase: %s, capacity: %s}
            """
                .formatted(phase, capacity),
            PersistentVolumeClaim.class));
  }

  private void pod(String name, String phase, String volume) {
    pods.add(
        parse(
            """
            metadata: {name: %s, namespace: shop}
            spec: {nodeName: worker-1, volumes: [%s]}
            status: {phase: %s}
            """
                .formatted(name, volume, phase),
            Pod.class));
  }

  private static String inline(String driver, String size) {
    return "{name: scratch, csi: {driver: %s, volumeAttributes: {size: %s}}}"
        .formatted(driver, size);
  }

  private void snapshot(String name, String handle, String node, String status) {
    snapshots.add(
        parse(
            """
            metadata:
              name: content-%s
              labels: {snapshot.storage.kubernetes.io/managed-by: '%s'}
            spec:
              driver: pmem-csi.intel.com
              source: {volumeHandle: %s}
              volumeSnapshotRef: {namespace: shop, name: %s}
            status: %s
            """
                .formatted(name, node, handle, name, status),
            GenericKubernetesResource.class));
  }

  private void warning(String kind, String object, String time, String message) {
    warnings.add(
        parse(
            "{involvedObject: {kind: %s, %s}, lastTimestamp: '%s', message: %s}"
                .formatted(kind, object, time, message),
            Event.class));
  }

  private static <T> T parse(String yaml, Class<T> type) {
    // otherwise a brace at the beginning means JSON
    return SERIALIZATION.unmarshal("---\n" + yaml, type);
  }
}
