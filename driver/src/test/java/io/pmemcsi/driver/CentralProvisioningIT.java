package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.registry.ControllerUnderTest;
import io.pmemcsi.driver.registry.Relay;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Provisioning by the central controller: placement, and recovery from lost messages and restarts.
 */
@Timeout(300)
class CentralProvisioningIT {

  private static final String KEY = FileModeDriver.NAME + "/node";

  private final Scratch scratch = new Scratch();
  private final CentralCluster cluster = new CentralCluster(scratch.directory());
  private final Map<String, Relay> relays = new ConcurrentHashMap<>();

  @BeforeEach
  void start() {
    cluster.startController();
    for (String node : List.of("node-1", "node-2", "node-3")) {
      cluster.startNode(node);
    }
    cluster.awaitRegistered();
  }

  @AfterEach
  void assertNoVolumesLeft() throws IOException {
    try (scratch;
        cluster) {
      relays.values().forEach(Relay::close);
      assertThat(cluster.devices()).as("remaining volumes").isEmpty();
    }
  }

  private static CreateVolumeRequest.Builder on(String node, String name) {
    return on(List.of(node), List.of(node), name);
  }

  private static CreateVolumeRequest.Builder on(
      List<String> requisite, List<String> preferred, String name) {
    return request(name, 8 * MIB)
        .setAccessibilityRequirements(
            TopologyRequirement.newBuilder()
                .addAllRequisite(requisite.stream().map(CentralProvisioningIT::topology).toList())
                .addAllPreferred(preferred.stream().map(CentralProvisioningIT::topology).toList()));
  }

  private static Topology topology(String node) {
    return Topology.newBuilder().putSegments(KEY, node).build();
  }

  private Volume create(CreateVolumeRequest.Builder request) {
    return cluster.csi().createVolume(request.build()).getVolume();
  }

  private void delete(String id) {
    cluster.csi().deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(id).build());
  }

  private static void assertFails(Code code, String message, ThrowingCallable call) {
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(call)
        .satisfies(e -> assertThat(e.getStatus().getCode()).as("%s", e).isEqualTo(code))
        .withMessageContaining(message);
  }

  @Test
  void aVolumeIsCreatedOnTheRequisiteNode() {
    Volume volume = create(on("node-2", "pvc"));

    assertThat(volume.getAccessibleTopologyList()).containsExactly(topology("node-2"));
    assertThat(cluster.volumesOn("node-2")).containsExactly(volume.getVolumeId());
    assertThat(cluster.volumesOn("node-1")).isEmpty();
    assertThat(cluster.volumes()).containsExactly(volume.getVolumeId());

    delete(volume.getVolumeId());
    assertThat(cluster.volumesOn("node-2")).isEmpty();
    assertThat(cluster.volumes()).isEmpty();
  }

  @Test
  void withoutTopologyTheNodeWithMostCapacityIsChosen() {
    Volume large = create(request("large", 1024 * MIB));
    Volume next = create(request("next", 8 * MIB));

    assertThat(next.getAccessibleTopologyList()).isNotEqualTo(large.getAccessibleTopologyList());
    delete(large.getVolumeId());
    delete(next.getVolumeId());
  }

  @Test
  void aPreferredNodeWithoutCapacityIsSkipped() {
    cluster.stopNode("node-1");
    cluster.startNode(cluster.nodeSettings("node-1"), 4 * MIB);
    cluster.awaitRegistered();

    Volume volume = create(on(List.of("node-1", "node-3"), List.of("node-1"), "pvc"));

    assertThat(volume.getAccessibleTopologyList()).containsExactly(topology("node-3"));
    delete(volume.getVolumeId());
  }

  @Test
  void aNameIdentifiesOneVolumeOnAllNodes() {
    Volume volume = create(on("node-2", "pvc"));

    assertThat(create(on(List.of("node-1", "node-2"), List.of("node-1"), "pvc"))).isEqualTo(volume);
    assertFails(Code.ALREADY_EXISTS, "is on node node-2", () -> create(on("node-1", "pvc")));
    delete(volume.getVolumeId());
  }

  @Test
  void anUnregisteredNodeHasNoCapacity() {
    assertFails(
        Code.RESOURCE_EXHAUSTED,
        "the driver does not run on node node-9",
        () -> create(on("node-9", "pvc")));
  }

  @Test
  void capacityIsReportedPerNodeAndInTotal() {
    Volume volume = create(on("node-2", "pvc"));

    assertThat(capacity("node-2")).isEqualTo(FileModeDriver.POOL - 8 * MIB);
    assertThat(capacity("node-1")).isEqualTo(FileModeDriver.POOL);
    assertThat(cluster.csi().getCapacity(GetCapacityRequest.getDefaultInstance()))
        .satisfies(
            all -> {
              assertThat(all.getAvailableCapacity()).isEqualTo(3 * FileModeDriver.POOL - 8 * MIB);
              assertThat(all.getMaximumVolumeSize().getValue()).isEqualTo(FileModeDriver.POOL);
            });
    delete(volume.getVolumeId());
  }

  private long capacity(String node) {
    return cluster
        .csi()
        .getCapacity(GetCapacityRequest.newBuilder().setAccessibleTopology(topology(node)).build())
        .getAvailableCapacity();
  }

  @Test
  void aVolumeThatTheNodeCreatedItselfIsDeletedByTheController() {
    String id = new Calls(cluster.node("node-3")).create("local", 8 * MIB).getVolumeId();

    delete(id);

    assertThat(cluster.volumesOn("node-3")).isEmpty();
  }

  @Test
  void volumesOfAnUnreachableNodeAreListedAndNeitherDeletedNorRecreatedElsewhere() {
    Volume volume = create(on("node-1", "pvc"));
    cluster.stopNode("node-1");

    assertThat(cluster.volumes()).containsExactly(volume.getVolumeId());
    assertFails(Code.UNAVAILABLE, "node-1", () -> delete(volume.getVolumeId()));
    assertFails(Code.UNAVAILABLE, "node-1", () -> create(request("pvc", 8 * MIB)));
    Volume other = create(request("other", 8 * MIB));
    delete(other.getVolumeId());

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    assertThat(create(request("pvc", 8 * MIB))).isEqualTo(volume);
    delete(volume.getVolumeId());
  }

  @Test
  void deletingAnUnknownVolumeFailsWhileANodeWithVolumesIsUnreachable() {
    Volume volume = create(on("node-1", "pvc"));
    cluster.stopNode("node-1");

    assertFails(Code.UNAVAILABLE, "node-1", () -> delete("does-not-exist"));

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    delete("does-not-exist");
    delete(volume.getVolumeId());
  }

  @Test
  void aRestartedControllerKnowsAllVolumesBeforeNodesRegister() {
    Volume volume = create(on("node-1", "pvc"));
    Volume other = create(on("node-2", "other"));
    cluster.stopNode("node-1");
    cluster.stopController();
    cluster.startController();
    cluster.awaitRegistered();

    assertThat(cluster.volumes())
        .containsExactlyInAnyOrder(volume.getVolumeId(), other.getVolumeId());
    assertFails(Code.UNAVAILABLE, "node-1", () -> delete(volume.getVolumeId()));
    assertFails(Code.UNAVAILABLE, "node-1", () -> create(request("pvc", 8 * MIB)));
    delete(other.getVolumeId());

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    delete(volume.getVolumeId());
  }

  @Test
  void changesDuringControllerDowntimeAreKnownAfterRegistration() {
    Volume volume = create(on("node-1", "pvc"));
    cluster.stopController();
    Calls local = new Calls(cluster.node("node-1"));
    local.delete(volume.getVolumeId());
    String id = local.create("local", 8 * MIB).getVolumeId();

    cluster.startController();
    cluster.awaitRegistered();

    assertThat(cluster.volumes()).containsExactly(id);
    delete(id);
  }

  @Test
  void withoutRecordsDeletionFailsBeforeNodesRegister() throws IOException {
    Volume volume = create(on("node-1", "pvc"));
    List.of("node-1", "node-2", "node-3").forEach(cluster::stopNode);
    cluster.stopController();
    deleteRecords();
    cluster.startController();

    assertFails(
        Code.UNAVAILABLE, "nodes may still have to register", () -> delete(volume.getVolumeId()));

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    delete(volume.getVolumeId());
  }

  @Test
  void withoutRecordsAVolumeOfANodeThatIsAwayIsNotTakenForDeleted() throws IOException {
    Volume volume = create(on("node-1", "pvc"));
    List.of("node-1", "node-2").forEach(cluster::stopNode);
    cluster.stopController();
    deleteRecords();
    cluster.inventory(Set.of("node-1", "node-3"));
    cluster.startController();
    cluster.awaitRegistered();

    assertFails(
        Code.UNAVAILABLE, "node node-1 is not registered", () -> delete(volume.getVolumeId()));

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    delete(volume.getVolumeId());
  }

  /** A caller repeats the creation that an earlier controller has finished. */
  @Test
  void withoutRecordsAVolumeIsNotCreatedAgainOnAnotherNode() throws IOException {
    Volume volume = create(on("node-1", "pvc"));
    cluster.stopNode("node-1");
    cluster.stopController();
    deleteRecords();
    cluster.inventory(Set.of("node-1", "node-2", "node-3"));
    cluster.settling(Duration.ofMinutes(5));
    cluster.startController();
    cluster.awaitRegistered();

    assertFails(
        Code.UNAVAILABLE,
        "node node-1 has not registered yet",
        () -> create(request("pvc", 8 * MIB)));
    assertFails(
        Code.UNAVAILABLE, "nodes may still have to register", () -> delete(volume.getVolumeId()));

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    assertThat(create(request("pvc", 8 * MIB)).getVolumeId()).isEqualTo(volume.getVolumeId());
    assertThat(cluster.volumesOn("node-1")).containsExactly(volume.getVolumeId());
    assertThat(cluster.volumesOn("node-2")).isEmpty();
    assertThat(cluster.volumesOn("node-3")).isEmpty();
    delete(volume.getVolumeId());
  }

  /**
   * The node with the controller has crashed after it created the volume, the new controller knows
   * nothing, and the pod is scheduled to another node.
   */
  @Test
  void withoutRecordsADeletionIncludesNodesThatHaveNotReported() throws IOException {
    String id = create(on("node-1", "pvc")).getVolumeId();
    String earlier = create(on("node-3", "earlier")).getVolumeId();
    cluster.stopNode("node-1");
    cluster.stopController();
    deleteRecords();
    cluster.inventory(Set.of("node-1", "node-2", "node-3"));
    cluster.startController();
    cluster.awaitRegistered();

    assertFails(
        Code.UNAVAILABLE, "node node-1 is not registered", () -> create(on("node-1", "pvc")));
    assertThat(create(on("node-2", "pvc")).getVolumeId()).isEqualTo(id);
    assertFails(Code.UNAVAILABLE, "node node-1 is not registered", () -> delete(id));
    // a node has reported it, and this controller did not create it
    delete(earlier);

    cluster.stopController();
    cluster.startController();
    cluster.awaitRegistered();
    String next = create(on("node-2", "next")).getVolumeId();
    assertFails(Code.UNAVAILABLE, "node node-1 is not registered", () -> delete(id));
    assertFails(Code.UNAVAILABLE, "node node-1 is not registered", () -> delete(next));

    cluster.startNode("node-1");
    cluster.awaitRegistered();
    delete(id);
    delete(next);
    assertThat(cluster.volumesOn("node-1")).isEmpty();
    assertThat(cluster.volumes()).isEmpty();
  }

  /** A node that was away when the controller lost its records never returns. */
  @Test
  void withoutRecordsADeletionDoesNotWaitForADeletedNode() throws IOException {
    cluster.stopNode("node-1");
    cluster.stopController();
    deleteRecords();
    cluster.inventory(Set.of("node-1", "node-2", "node-3"));
    cluster.startController();
    cluster.awaitRegistered();
    String id = create(on("node-2", "pvc")).getVolumeId();
    String other = create(on("node-2", "other")).getVolumeId();
    assertFails(Code.UNAVAILABLE, "node node-1 is not registered", () -> delete(id));

    cluster.inventory(Set.of("node-2", "node-3"));

    delete(id);
    delete(id);
    delete("does-not-exist");
    delete(other);
    assertThat(cluster.volumes()).isEmpty();
  }

  @Test
  void aNodeThatLeftWithoutVolumesIsExpectedBackWhileTheClusterHasTheDriverThere() {
    cluster.stopNode("node-1");
    cluster.inventory(Set.of("node-1", "node-2", "node-3"));

    assertFails(
        Code.UNAVAILABLE, "node node-1 is not registered", () -> create(on("node-1", "pvc")));

    cluster.inventory(Set.of("node-2", "node-3"));
    assertFails(
        Code.RESOURCE_EXHAUSTED,
        "the driver does not run on node node-1",
        () -> create(on("node-1", "pvc")));
  }

  private void deleteRecords() throws IOException {
    try (var files =
        Files.list(scratch.directory().resolve(CentralCluster.CONTROLLER).resolve("state/nodes"))) {
      for (var file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  /**
   * What docs/migration.md promises: a pod keeps its volume while the way of provisioning changes.
   */
  @Test
  void volumesAreUsedAndDeletedByNodesThatProvisionForThemselves() throws IOException {
    Volume used = create(on("node-1", "used"));
    Volume unused = create(on("node-1", "unused"));
    Path staging = Files.createDirectory(scratch.directory().resolve("staging"));
    Path target = scratch.directory().resolve("target");
    Calls before = new Calls(cluster.node("node-1"));
    before.stage(used, staging, mount("ext4"));
    before.publish(used, staging, target, mount("ext4"));
    Files.writeString(target.resolve("file"), "content");
    cluster.stopController();
    cluster.stopNode("node-1");

    // the same flags without those of central provisioning
    FileModeDriver node =
        cluster.startNode(
            cluster.nodeSettings("node-1").withRegistry(Optional.empty()), FileModeDriver.POOL);
    Calls after = new Calls(node);

    assertThat(Files.readString(target.resolve("file"))).isEqualTo("content");
    assertThat(cluster.volumesOn("node-1"))
        .containsExactlyInAnyOrder(used.getVolumeId(), unused.getVolumeId());
    assertThat(after.create(on("node-1", "used"))).isEqualTo(used);
    after.unpublish(used.getVolumeId(), target);
    after.unstage(used.getVolumeId(), staging);
    after.stage(used, staging, mount("ext4"));
    after.publish(used, staging, target, mount("ext4"));
    assertThat(Files.readString(target.resolve("file"))).isEqualTo("content");
    after.unpublish(used.getVolumeId(), target);
    after.unstage(used.getVolumeId(), staging);
    after.delete(used.getVolumeId());
    after.delete(unused.getVolumeId());
    assertThat(cluster.volumesOn("node-1")).isEmpty();
    cluster.startController();
  }

  @Test
  void aPartitionDuringCreateLeavesOneVolume() {
    relay("node-1");
    loseResponsesOfCreate("node-1");

    assertFails(
        Code.DEADLINE_EXCEEDED,
        "",
        () ->
            cluster
                .csi()
                .withDeadlineAfter(3, SECONDS)
                .createVolume(on(List.of(), List.of("node-1"), "pvc").build()));
    // the volume stays bound to this node, although others are allowed
    assertFails(
        Code.DEADLINE_EXCEEDED,
        "",
        () ->
            cluster
                .csi()
                .withDeadlineAfter(2, SECONDS)
                .createVolume(on(List.of(), List.of("node-2"), "pvc").build()));
    requireNonNull(relays.get("node-1")).heal();

    // the first call may still meet the old connection; the provisioner repeats it then
    Volume volume =
        await()
            .ignoreExceptionsMatching(
                e -> Status.fromThrowable(e).getCode() == Status.Code.UNAVAILABLE)
            .until(() -> create(on(List.of(), List.of("node-2"), "pvc")), _ -> true);
    assertThat(volume.getAccessibleTopologyList()).containsExactly(topology("node-1"));
    assertThat(cluster.volumes()).containsExactly(volume.getVolumeId());
    delete(volume.getVolumeId());
  }

  @Test
  void anInterruptedCreationOnANoLongerAllowedNodeIsRolledBack() {
    relay("node-1");
    loseResponsesOfCreate("node-1");

    assertFails(
        Code.DEADLINE_EXCEEDED,
        "",
        () ->
            cluster.csi().withDeadlineAfter(3, SECONDS).createVolume(on("node-1", "pvc").build()));
    requireNonNull(relays.get("node-1")).heal();

    Volume volume = create(on("node-2", "pvc"));
    assertThat(cluster.volumesOn("node-1")).isEmpty();
    assertThat(cluster.volumesOn("node-2")).containsExactly(volume.getVolumeId());
    delete(volume.getVolumeId());
  }

  /** The response to the first creation that reaches the node is lost. */
  private void loseResponsesOfCreate(String node) {
    cluster.stopController();
    cluster.startController(
        new DurableFiles(),
        new ControllerUnderTest.Steps() {
          private boolean lost;

          @Override
          public <T> T call(String what, Supplier<T> call) {
            if (what.equals("create") && !lost) {
              lost = true;
              requireNonNull(relays.get(node)).loseResponses();
            }
            return call.get();
          }
        });
    cluster.awaitRegistered();
  }

  @Test
  void aPartitionDuringDeleteIsNotReportedAsSuccess() {
    relay("node-1");
    Volume volume = create(on("node-1", "pvc"));

    requireNonNull(relays.get("node-1")).loseResponses();
    assertFails(
        Code.DEADLINE_EXCEEDED,
        "",
        () ->
            cluster
                .csi()
                .withDeadlineAfter(3, SECONDS)
                .deleteVolume(
                    DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build()));
    requireNonNull(relays.get("node-1")).heal();

    delete(volume.getVolumeId());
    assertThat(cluster.volumesOn("node-1")).isEmpty();
  }

  @Test
  void aDeletionThatDoesNotReachTheNodeIsNotReportedAsSuccess() {
    relay("node-1");
    Volume volume = create(on("node-1", "pvc"));

    requireNonNull(relays.get("node-1")).loseRequests();
    assertFails(
        Code.DEADLINE_EXCEEDED,
        "",
        () ->
            cluster
                .csi()
                .withDeadlineAfter(2, SECONDS)
                .deleteVolume(
                    DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build()));
    assertThat(cluster.volumesOn("node-1")).containsExactly(volume.getVolumeId());
    requireNonNull(relays.get("node-1")).heal();

    delete(volume.getVolumeId());
  }

  /** Without a deadline, the call fails when keepalive detects the dead connection. */
  @Test
  void aDeadConnectionIsDetected() {
    relay("node-1");
    Volume volume = create(on("node-1", "pvc"));

    requireNonNull(relays.get("node-1")).loseResponses();
    assertFails(Code.UNAVAILABLE, "node-1", () -> delete(volume.getVolumeId()));
    requireNonNull(relays.get("node-1")).heal();

    delete(volume.getVolumeId());
  }

  @Test
  void aNodeThatVanishedDoesNotDelayCallsAndIsNotReported() {
    relay("node-1");

    requireNonNull(relays.get("node-1")).vanish();

    await()
        .untilAsserted(
            () -> assertThat(cluster.controller().nodes()).containsExactly("node-2", "node-3"));
    for (String name : List.of("one", "two", "three")) {
      assertTimeout(
          Timeouts.NODE_ANSWER,
          () -> {
            Volume volume = create(request(name, 8 * MIB));
            assertThat(cluster.volumes()).containsExactly(volume.getVolumeId());
            delete(volume.getVolumeId());
          });
    }
  }

  /** A firewall may forget an idle connection: its end is not seen. */
  @Test
  void aNodeRegistersAgainAlthoughItDoesNotSeeTheEndOfItsConnection() {
    try (Relay toRegistry = new Relay(cluster.registry())) {
      cluster.stopNode("node-1");
      cluster.startNode(
          cluster.nodeSettings("node-1", cluster.membership(toRegistry.endpoint())),
          FileModeDriver.POOL);
      cluster.awaitRegistered();

      toRegistry.freeze();
      cluster.stopController();
      cluster.startController();

      cluster.awaitRegistered();
      cluster.stopNode("node-1");
    }
  }

  @Test
  void aRestartedNodeIsFoundAtItsNewPort() {
    Volume volume = create(on("node-1", "pvc"));
    TcpEndpoint before = cluster.provisioning("node-1").endpoint();

    cluster.stopNode("node-1");
    cluster.startNode("node-1");
    cluster.awaitRegistered();

    assertThat(cluster.provisioning("node-1").endpoint()).isNotEqualTo(before);
    delete(volume.getVolumeId());
  }

  /** Puts a relay between the controller and a node. */
  private void relay(String node) {
    cluster.route(
        (name, endpoint) ->
            name.equals(node)
                ? relays.computeIfAbsent(name, _ -> new Relay(endpoint)).endpoint()
                : endpoint);
    cluster.stopNode(node);
    cluster.startNode(node);
    cluster.awaitRegistered();
  }
}
