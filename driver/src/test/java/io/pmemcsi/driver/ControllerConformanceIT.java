package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.Calls.with;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerServiceCapability.RPC;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesResponse;
import csi.v1.Topology;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of the CSI specification for the Controller service, except CreateVolume. */
class ControllerConformanceIT extends SharedDriver {

  /** What the service under test offers; subclasses may override this. */
  List<RPC.Type> expectedCapabilities() {
    return List.of(
        RPC.Type.CREATE_DELETE_VOLUME,
        RPC.Type.LIST_VOLUMES,
        RPC.Type.GET_CAPACITY,
        RPC.Type.CREATE_DELETE_SNAPSHOT,
        RPC.Type.LIST_SNAPSHOTS,
        RPC.Type.GET_SNAPSHOT,
        RPC.Type.CLONE_VOLUME,
        RPC.Type.SINGLE_NODE_MULTI_WRITER);
  }

  @Nested
  class ControllerCapabilities {

    @Test
    void theyListEachImplementedCall() {
      assertThat(
              driver
                  .controller()
                  .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(c -> c.getRpc().getType())
          .containsExactlyInAnyOrderElementsOf(expectedCapabilities());
    }

    @Test
    void unlistedCallsAreUnimplemented() {
      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerExpandVolume(ControllerExpandVolumeRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerPublishVolume(ControllerPublishVolumeRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerUnpublishVolume(
                          ControllerUnpublishVolumeRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerGetVolume(ControllerGetVolumeRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerModifyVolume(ControllerModifyVolumeRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
    }
  }

  @Nested
  class GetCapacity {

    private GetCapacityResponse capacity(Map<String, String> segments) {
      GetCapacityRequest.Builder request = GetCapacityRequest.newBuilder();
      if (!segments.isEmpty()) {
        request.setAccessibleTopology(Topology.newBuilder().putAllSegments(segments));
      }
      return driver.controller().getCapacity(request.build());
    }

    @Test
    void availableCapacityAndMaximumVolumeSizeAreReported() {
      GetCapacityResponse capacity = capacity(Map.of());

      assertThat(capacity.getAvailableCapacity()).isEqualTo(FileModeDriver.POOL);
      assertThat(capacity.getMaximumVolumeSize().getValue()).isEqualTo(FileModeDriver.POOL);
    }

    @Test
    void aVolumeReducesTheAvailableCapacity() {
      csi.create("pvc", 10 * MIB);

      assertThat(capacity(Map.of()).getAvailableCapacity())
          .isEqualTo(FileModeDriver.POOL - 12 * MIB);
    }

    @Test
    void aVolumeOfTheMaximumSizeFits() {
      csi.create("pvc", 10 * MIB);
      csi.create("rest", capacity(Map.of()).getMaximumVolumeSize().getValue());

      assertThat(capacity(Map.of()).getAvailableCapacity()).isZero();
      assertThatCall(() -> csi.create("more", 1)).fails(Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void onlyThisNodeHasCapacity() {
      String key = FileModeDriver.NAME + "/node";

      assertThat(capacity(Map.of(key, FileModeDriver.NODE)).getAvailableCapacity()).isPositive();
      assertThat(capacity(Map.of(key, "elsewhere")).getAvailableCapacity()).isZero();
    }
  }

  @Nested
  class ListVolumes {

    @Test
    void withoutVolumesTheListIsEmpty() {
      assertThat(list(0, "").getEntriesList()).isEmpty();
    }

    @Test
    void createdVolumesAreListedAndDeletedOnesAreNot() {
      String id = csi.create("pvc", MIB).getVolumeId();
      assertThat(list(0, "").getEntriesList())
          .extracting(e -> e.getVolume().getVolumeId())
          .containsExactly(id);

      csi.delete(id);
      assertThat(list(0, "").getEntriesList()).isEmpty();
    }

    @Test
    void anEntryHasTheIdAndTheCapacityThatCreateReturned() {
      Volume volume = csi.create("pvc", MIB);

      assertThat(list(0, "").getEntries(0).getVolume())
          .isEqualTo(
              Volume.newBuilder()
                  .setVolumeId(volume.getVolumeId())
                  .setCapacityBytes(volume.getCapacityBytes())
                  .build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "1", "-1", " "})
    void aTokenThatWasNeverReturnedIsAborted(String token) {
      assertThatCall(() -> list(0, token)).fails(Code.ABORTED, "starting_token");
    }

    @Test
    void aNegativeMaximumIsInvalid() {
      assertThatCall(() -> list(-1, "")).fails(Code.INVALID_ARGUMENT, "max_entries -1");
    }

    @Test
    void pagesContainEachVolumeOnceInAStableOrder() {
      IntStream.range(0, 7).forEach(i -> csi.create("pvc-" + i, MIB));
      List<String> seen = new ArrayList<>();
      String token = "";
      do {
        ListVolumesResponse page = list(3, token);
        assertThat(page.getEntriesCount()).isLessThanOrEqualTo(3);
        page.getEntriesList().forEach(e -> seen.add(e.getVolume().getVolumeId()));
        token = page.getNextToken();
      } while (!token.isEmpty());

      assertThat(seen).hasSize(7).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void pagesStayConsistentWhileVolumesAreCreatedAndDeleted() {
      IntStream.range(0, 4).forEach(i -> csi.create("pvc-" + i, MIB));
      ListVolumesResponse first = list(2, "");
      Set<String> before = new HashSet<>();
      first.getEntriesList().forEach(e -> before.add(e.getVolume().getVolumeId()));

      before.forEach(csi::delete);

      assertThat(list(0, first.getNextToken()).getEntriesList())
          .hasSize(2)
          .noneMatch(e -> before.contains(e.getVolume().getVolumeId()));
    }

    @Test
    void aMaximumAsLargeAsTheListHasNoNextPage() {
      csi.create("pvc", MIB);

      assertThat(list(1, "").getNextToken()).isEmpty();
    }
  }

  @Nested
  class DeleteVolume {

    @Test
    void theVolumeIdIsRequired() {
      assertThatCall(() -> csi.delete("")).fails(Code.INVALID_ARGUMENT, "volume_id is missing");
    }

    @ParameterizedTest
    @ValueSource(strings = {UNKNOWN, "../../etc/passwd", "a b", "-", "\u0000"})
    void deletingAnUnknownVolumeSucceeds(String id) {
      csi.delete(id);
    }

    @Test
    void deletingTwiceSucceeds() {
      String id = csi.create("pvc", MIB).getVolumeId();

      csi.delete(id);
      csi.delete(id);
    }
  }

  @Nested
  class ValidateVolumeCapabilities {

    private ValidateVolumeCapabilitiesResponse validate(String id, VolumeCapability... requested) {
      return driver
          .controller()
          .validateVolumeCapabilities(
              ValidateVolumeCapabilitiesRequest.newBuilder()
                  .setVolumeId(id)
                  .addAllVolumeCapabilities(List.of(requested))
                  .putVolumeContext("name", "pvc")
                  .build());
    }

    @Test
    void theVolumeIdIsRequired() {
      assertThatCall(() -> validate("", mount(""))).fails(Code.INVALID_ARGUMENT, "volume_id");
    }

    @Test
    void capabilitiesAreRequired() {
      String id = csi.create("pvc", MIB).getVolumeId();

      assertThatCall(() -> validate(id)).fails(Code.INVALID_ARGUMENT, "volume_capabilities");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> validate(UNKNOWN, mount(""))).fails(Code.NOT_FOUND, UNKNOWN);
    }

    @Test
    void supportedCapabilitiesAreConfirmed() {
      String id = csi.create("pvc", MIB).getVolumeId();

      ValidateVolumeCapabilitiesResponse response = validate(id, mount("ext4"), block());

      assertThat(response.getConfirmed().getVolumeCapabilitiesList())
          .containsExactly(mount("ext4"), block());
      assertThat(response.getConfirmed().getVolumeContextMap()).containsEntry("name", "pvc");
    }

    @Test
    void unsupportedCapabilitiesAreNotConfirmedAndTheReasonIsReported() {
      String id = csi.create("pvc", MIB).getVolumeId();

      ValidateVolumeCapabilitiesResponse response =
          validate(id, with(mount(""), Mode.MULTI_NODE_MULTI_WRITER));

      assertThat(response.hasConfirmed()).isFalse();
      assertThat(response.getMessage()).contains("MULTI_NODE_MULTI_WRITER");
    }
  }
}
