package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VolumePlacerTest {

  @TempDir Path state;
  private Set<String> inventory = Set.of("node-1", "node-2");
  private int inventoryCalls;
  private Optional<Status.Code> failure = Optional.empty();
  private VolumeLocations locations;
  private RegisteredNodes nodes;
  private VolumePlacer placer;

  @BeforeEach
  void register() {
    locations = VolumeLocations.open(state, new DurableFiles());
    nodes = new RegisteredNodes((_, _) -> new EmptyNode(), locations);
    nodes.register("node-1", new TcpEndpoint("127.0.0.1", 1), "process");
    placer =
        new VolumePlacer(
            new DriverName("pmem-csi.intel.com"),
            nodes,
            locations,
            new UnreportedNodes(
                () -> {
                  inventoryCalls++;
                  return inventory;
                },
                locations,
                StartUp.begin(Clock.systemUTC(), Duration.ZERO, locations)));
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private VolumeId create(String name) {
    VolumeId id = VolumeId.fromName(name);
    placer.create(id, CreateVolumeRequest.newBuilder().setName(name).build());
    return id;
  }

  @Test
  void theClusterIsNotAskedForEachVolumeWhileANodeStaysAway() {
    VolumeId one = create("one");
    VolumeId other = create("other");

    assertThat(locations.holders(one.value())).containsExactly("node-1", "node-2");
    assertThat(locations.holders(other.value())).containsExactly("node-1", "node-2");
    assertThat(inventoryCalls).isEqualTo(1);
  }

  @Test
  void theClusterIsNotAskedForAVolumeThatItsNodeHasReported() {
    VolumeId id = VolumeId.fromName("pvc");
    locations.listing("node-1").finish(Map.of(id.value(), 4096L));

    create("pvc");

    assertThat(inventoryCalls).isZero();
  }

  @Test
  void aNodeThatNeverReportedAndWasDeletedDoesNotHoldAVolume() {
    VolumeId id = VolumeId.fromName("pvc");
    locations.creating("node-2", id.value());
    inventory = Set.of("node-1");

    create("pvc");

    assertThat(locations.holders(id.value())).containsExactly("node-1");
  }

  /** The volume exists on the node, whose answer was lost; then its storage class is wrong. */
  @Test
  void aRefusalDoesNotEndAnEarlierCreationWithoutAnswer() {
    VolumeId id = VolumeId.fromName("pvc");
    for (Status.Code code : List.of(Status.Code.DEADLINE_EXCEEDED, Status.Code.INVALID_ARGUMENT)) {
      failure = Optional.of(code);
      assertThatExceptionOfType(RegistryException.NodeFailed.class).isThrownBy(() -> create("pvc"));
    }

    assertThat(locations.holders(id.value())).containsExactly("node-1");
  }

  @ParameterizedTest
  @CsvSource({
    "OK, INVALID_ARGUMENT",
    "OK, RESOURCE_EXHAUSTED",
    // the node has looked for the volume
    "UNAVAILABLE, RESOURCE_EXHAUSTED"
  })
  void aVolumeThatTheNodeDoesNotHaveIsNotBoundToIt(Status.Code first, Status.Code second) {
    VolumeId id = VolumeId.fromName("pvc");
    for (Status.Code code : List.of(first, second)) {
      if (code != Status.Code.OK) {
        failure = Optional.of(code);
        assertThatExceptionOfType(RegistryException.NodeFailed.class)
            .isThrownBy(() -> create("pvc"));
      }
    }

    assertThat(locations.holders(id.value())).isEmpty();
  }

  /** The answer was lost, and the node has registered again since. */
  @Test
  void aVolumeWithoutAnswerThatItsNodeListsMayBeOnUnreportedNodesAsWell() {
    VolumeId id = VolumeId.fromName("pvc");
    failure = Optional.of(Status.Code.UNAVAILABLE);
    assertThatExceptionOfType(RegistryException.NodeFailed.class).isThrownBy(() -> create("pvc"));
    locations.listing("node-1").finish(Map.of(id.value(), 4096L));
    failure = Optional.empty();

    create("pvc");

    assertThat(locations.holders(id.value())).containsExactly("node-1", "node-2");
  }

  private final class EmptyNode implements NodeClient {

    @Override
    public CreateVolumeResponse create(CreateVolumeRequest request) {
      if (failure.isPresent()) {
        throw new RegistryException.NodeFailed(new NodeStatus(failure.get()), "failed");
      }
      return CreateVolumeResponse.newBuilder()
          .setVolume(
              Volume.newBuilder()
                  .setVolumeId(VolumeId.fromName(request.getName()).value())
                  .setCapacityBytes(4096))
          .build();
    }

    @Override
    public List<ListVolumesResponse.Entry> list() {
      return List.of();
    }

    @Override
    public void delete(DeleteVolumeRequest request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public ValidateVolumeCapabilitiesResponse validate(ValidateVolumeCapabilitiesRequest request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public GetCapacityResponse capacity(Map<String, String> parameters) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isReachable() {
      return true;
    }

    @Override
    public void close() {}
  }
}
