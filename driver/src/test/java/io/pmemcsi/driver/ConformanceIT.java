package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.Calls.with;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerServiceCapability;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeServiceCapability;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.PluginCapability;
import csi.v1.ProbeRequest;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import csi.v1.VolumeUsage;
import io.grpc.Status.Code;
import io.pmemcsi.driver.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules of the CSI specification for the services this driver offers, one test for each. The
 * names of the groups are those of the calls.
 */
class ConformanceIT {

  private static final String UNKNOWN = "does-not-exist";

  private static Scratch scratch;
  private static FileModeDriver driver;
  private static Calls csi;

  @BeforeAll
  static void start() {
    scratch = new Scratch();
    driver = FileModeDriver.start(scratch.folder());
    csi = new Calls(driver);
  }

  @AfterAll
  static void stop() {
    driver.close();
    scratch.close();
  }

  @AfterEach
  void removeVolumesAndLookForLeaks() throws IOException {
    for (ListVolumesResponse.Entry entry : list(0, "").getEntriesList()) {
      csi.delete(entry.getVolume().getVolumeId());
    }
    Files.deleteIfExists(staging());
    scratch.assertNothingLeft();
  }

  private static Path staging() {
    return scratch.pod("staging");
  }

  private static Path target() {
    return scratch.pod("target");
  }

  private static ListVolumesResponse list(int max, String token) {
    return driver
        .controller()
        .listVolumes(
            ListVolumesRequest.newBuilder().setMaxEntries(max).setStartingToken(token).build());
  }

  @Nested
  class Identity {

    @Test
    void theNameIsTheDriverName() {
      GetPluginInfoResponse info =
          driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());

      assertThat(info.getName()).isEqualTo(FileModeDriver.NAME).matches("[a-zA-Z0-9.-]{1,63}");
      assertThat(info.getVendorVersion()).isNotEmpty();
    }

    @Test
    void theCapabilitiesAreTheServicesThatExist() {
      assertThat(
              driver
                  .identity()
                  .getPluginCapabilities(GetPluginCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(
              c ->
                  c.hasService()
                      ? c.getService().getType().name()
                      : c.getVolumeExpansion().getType().name())
          .containsExactly(
              PluginCapability.Service.Type.CONTROLLER_SERVICE.name(),
              PluginCapability.Service.Type.VOLUME_ACCESSIBILITY_CONSTRAINTS.name(),
              PluginCapability.VolumeExpansion.Type.ONLINE.name());
    }

    @Test
    void probingSucceedsWithoutAWord() {
      assertThat(driver.identity().probe(ProbeRequest.getDefaultInstance()).hasReady()).isFalse();
    }
  }

  @Nested
  class ControllerCapabilities {

    @Test
    void theyNameEachCallThatWorks() {
      assertThat(
              driver
                  .controller()
                  .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(c -> c.getRpc().getType())
          .containsExactlyInAnyOrder(
              ControllerServiceCapability.RPC.Type.CREATE_DELETE_VOLUME,
              ControllerServiceCapability.RPC.Type.LIST_VOLUMES,
              ControllerServiceCapability.RPC.Type.GET_CAPACITY,
              ControllerServiceCapability.RPC.Type.EXPAND_VOLUME,
              ControllerServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER);
    }

    @Test
    void callsThatAreNotNamedAreUnimplemented() {
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
              () -> driver.controller().createSnapshot(CreateSnapshotRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () -> driver.controller().deleteSnapshot(DeleteSnapshotRequest.getDefaultInstance()))
          .fails(Code.UNIMPLEMENTED);
      assertThatCall(
              () -> driver.controller().listSnapshots(ListSnapshotsRequest.getDefaultInstance()))
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
    void availableAndLargestVolumeAreTold() {
      GetCapacityResponse capacity = capacity(Map.of());

      assertThat(capacity.getAvailableCapacity()).isEqualTo(FileModeDriver.POOL);
      assertThat(capacity.getMaximumVolumeSize().getValue()).isEqualTo(FileModeDriver.POOL);
    }

    @Test
    void aVolumeTakesWhatItWasPromised() {
      csi.create("pvc", 10 * MIB);

      assertThat(capacity(Map.of()).getAvailableCapacity())
          .isEqualTo(FileModeDriver.POOL - 12 * MIB);
    }

    @Test
    void theLargestVolumeReallyFits() {
      csi.create("pvc", 10 * MIB);
      csi.create("rest", capacity(Map.of()).getMaximumVolumeSize().getValue());

      assertThat(capacity(Map.of()).getAvailableCapacity()).isZero();
      assertThatCall(() -> csi.create("more", 1)).fails(Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void thisNodeHasCapacityAndOthersHaveNone() {
      String key = FileModeDriver.NAME + "/node";

      assertThat(capacity(Map.of(key, FileModeDriver.NODE)).getAvailableCapacity()).isPositive();
      assertThat(capacity(Map.of(key, "elsewhere")).getAvailableCapacity()).isZero();
    }
  }

  @Nested
  class ListVolumes {

    @Test
    void nothingIsAnEmptyList() {
      assertThat(list(0, "").getEntriesList()).isEmpty();
    }

    @Test
    void newVolumesAppearAndDeletedOnesVanish() {
      String id = csi.create("pvc", MIB).getVolumeId();
      assertThat(list(0, "").getEntriesList())
          .extracting(e -> e.getVolume().getVolumeId())
          .containsExactly(id);

      csi.delete(id);
      assertThat(list(0, "").getEntriesList()).isEmpty();
    }

    @Test
    void anEntryIsTheVolumeThatCreateReturned() {
      Volume volume = csi.create("pvc", MIB);

      assertThat(list(0, "").getEntries(0).getVolume()).isEqualTo(volume);
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
    void pagesHoldAllVolumesOnceInAStableOrder() {
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
    void pagesStayTrueWhileVolumesComeAndGo() {
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
  class CreateVolume {

    @Test
    void aNameIsNeeded() {
      assertThatCall(() -> csi.create("", MIB)).fails(Code.INVALID_ARGUMENT, "name is missing");
    }

    @Test
    void capabilitiesAreNeeded() {
      assertThatCall(() -> csi.create(request("pvc", MIB).clearVolumeCapabilities()))
          .fails(Code.INVALID_ARGUMENT, "volume_capabilities is missing");
    }

    @Test
    void anAccessTypeIsNeeded() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .clearVolumeCapabilities()
                          .addVolumeCapabilities(mount("").toBuilder().clearMount())))
          .fails(Code.INVALID_ARGUMENT, "access_type is missing");
    }

    @Test
    void anAccessModeIsNeeded() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .clearVolumeCapabilities()
                          .addVolumeCapabilities(mount("").toBuilder().clearAccessMode())))
          .fails(Code.INVALID_ARGUMENT, "access_mode is missing");
    }

    @Test
    void withoutASizeItIsTheSmallestOne() {
      Volume volume = csi.create(request("pvc", 0).clearCapacityRange());

      assertThat(volume.getCapacityBytes()).isEqualTo(4 * MIB);
    }

    @Test
    void zeroBytesAreTheSmallestVolume() {
      assertThat(csi.create("pvc", 0).getCapacityBytes()).isEqualTo(4 * MIB);
    }

    @Test
    void theVolumeIsAtLeastAsLargeAsAsked() {
      assertThat(csi.create("pvc", 4 * MIB + 1).getCapacityBytes()).isEqualTo(8 * MIB);
    }

    @Test
    void theAnswerTellsTheOneNodeThatHasTheVolume() {
      Volume volume = csi.create("pvc", MIB);

      assertThat(volume.getVolumeId()).matches("pvc-[0-9a-f]{56}");
      assertThat(volume.getAccessibleTopologyList())
          .containsExactly(
              Topology.newBuilder()
                  .putSegments(FileModeDriver.NAME + "/node", FileModeDriver.NODE)
                  .build());
    }

    @Test
    void theContextHoldsTheParametersAndTheName() {
      Volume volume =
          csi.create(
              request("pvc", 64 * MIB)
                  .putParameters("eraseAfter", "false")
                  .putParameters("usage", "FileIO"));

      assertThat(volume.getVolumeContextMap())
          .containsEntry("eraseafter", "false")
          .containsEntry("usage", "FileIO")
          .containsEntry("name", "pvc");
    }

    @Test
    void theSameCallAgainReturnsTheSameVolume() {
      assertThat(csi.create("pvc", 10 * MIB)).isEqualTo(csi.create("pvc", 10 * MIB));
    }

    @Test
    void aSmallerSizeIsCompatibleWithTheVolumeThatIsThere() {
      Volume volume = csi.create("pvc", 10 * MIB);

      assertThat(csi.create("pvc", 5 * MIB)).isEqualTo(volume);
    }

    @Test
    void aLargerSizeIsNot() {
      csi.create("pvc", 10 * MIB);

      assertThatCall(() -> csi.create("pvc", 20 * MIB)).fails(Code.ALREADY_EXISTS, "12582912");
    }

    @Test
    void aLimitBelowTheVolumeThatIsThereIsNot() {
      csi.create("pvc", 10 * MIB);

      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", 0)
                          .setCapacityRange(CapacityRange.newBuilder().setLimitBytes(5 * MIB))))
          .fails(Code.ALREADY_EXISTS);
    }

    @Test
    void otherParametersAreNot() {
      csi.create("pvc", MIB);

      assertThatCall(() -> csi.create(request("pvc", MIB).putParameters("eraseafter", "false")))
          .fails(Code.ALREADY_EXISTS, "other parameters");
    }

    @Test
    void namesOfTheMaximumLengthWork() {
      csi.create("x".repeat(128), MIB);
    }

    @Test
    void longerNamesAreInvalid() {
      assertThatCall(() -> csi.create("x".repeat(129), MIB))
          .fails(Code.INVALID_ARGUMENT, "129 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/b", "../../etc/passwd", "ünïcödé", "名前", "-rf", "a b", "*", "$(id)"})
    void oddNamesWork(String name) {
      Volume volume = csi.create(name, MIB);

      assertThat(csi.create(name, MIB)).isEqualTo(volume);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\u0000b", "\u007f"})
    void controlCharactersInNamesAreInvalid(String name) {
      assertThatCall(() -> csi.create(name, MIB)).fails(Code.INVALID_ARGUMENT, "name");
    }

    @Test
    void negativeSizesAreInvalid() {
      assertThatCall(() -> csi.create("pvc", -1)).fails(Code.INVALID_ARGUMENT, "required_bytes -1");
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", 0)
                          .setCapacityRange(CapacityRange.newBuilder().setLimitBytes(-5))))
          .fails(Code.INVALID_ARGUMENT, "limit_bytes -5");
    }

    @Test
    void aLimitBelowTheRequiredSizeIsInvalid() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", 0)
                          .setCapacityRange(
                              CapacityRange.newBuilder().setRequiredBytes(2).setLimitBytes(1))))
          .fails(Code.INVALID_ARGUMENT, "more than limit_bytes 1");
    }

    @Test
    void aLimitThatNoVolumeCanKeepIsOutOfRange() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", 0)
                          .setCapacityRange(
                              CapacityRange.newBuilder().setRequiredBytes(1).setLimitBytes(MIB))))
          .fails(Code.OUT_OF_RANGE, "limit_bytes 1048576");
    }

    @Test
    void aLimitThatCanBeKeptIsKept() {
      Volume volume =
          csi.create(
              request("pvc", 0)
                  .setCapacityRange(
                      CapacityRange.newBuilder().setRequiredBytes(MIB).setLimitBytes(4 * MIB)));

      assertThat(volume.getCapacityBytes()).isEqualTo(4 * MIB);
    }

    @Test
    void onePebibyteIsRefused() {
      assertThatCall(() -> csi.create("pvc", 1L << 50)).fails(Code.RESOURCE_EXHAUSTED);
    }

    @ParameterizedTest
    @EnumSource(
        value = Mode.class,
        names = {
          "SINGLE_NODE_WRITER",
          "SINGLE_NODE_READER_ONLY",
          "SINGLE_NODE_SINGLE_WRITER",
          "SINGLE_NODE_MULTI_WRITER"
        })
    void accessFromOneNodeIsSupported(Mode mode) {
      csi.create(
          request("pvc", MIB)
              .clearVolumeCapabilities()
              .addVolumeCapabilities(with(mount(""), mode)));
    }

    @ParameterizedTest
    @EnumSource(
        value = Mode.class,
        names = {"MULTI_NODE_READER_ONLY", "MULTI_NODE_SINGLE_WRITER", "MULTI_NODE_MULTI_WRITER"})
    void accessFromSeveralNodesIsNot(Mode mode) {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .clearVolumeCapabilities()
                          .addVolumeCapabilities(with(mount(""), mode))))
          .fails(Code.INVALID_ARGUMENT, mode.name());
    }

    @Test
    void unknownFilesystemsAreInvalid() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .clearVolumeCapabilities()
                          .addVolumeCapabilities(mount("btrfs"))))
          .fails(Code.INVALID_ARGUMENT, "fs_type \"btrfs\"");
    }

    @Test
    void aVolumeForXfsIsLargeEnoughForXfs() {
      Volume volume =
          csi.create(
              request("pvc", MIB).clearVolumeCapabilities().addVolumeCapabilities(mount("xfs")));

      assertThat(volume.getCapacityBytes()).isEqualTo(300 * MIB);
    }

    @Test
    void unknownParametersAreInvalid() {
      assertThatCall(() -> csi.create(request("pvc", MIB).putParameters("colour", "red")))
          .fails(
              Code.INVALID_ARGUMENT,
              "persistent volume: parameter \"colour\" invalid in this context");
    }

    @Test
    void kataAndRawBlockExcludeEachOther() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .clearVolumeCapabilities()
                          .addVolumeCapabilities(block())
                          .putParameters("kataContainers", "true")))
          .fails(Code.INVALID_ARGUMENT, "kataContainers");
    }

    @Test
    void sourcesAreInvalid() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .setVolumeContentSource(
                              VolumeContentSource.newBuilder()
                                  .setVolume(
                                      VolumeContentSource.VolumeSource.newBuilder()
                                          .setVolumeId("x")))))
          .fails(Code.INVALID_ARGUMENT, "volume_content_source");
    }

    @Test
    void mutableParametersAreInvalid() {
      assertThatCall(() -> csi.create(request("pvc", MIB).putChangeableParameters("iops", "1")))
          .fails(Code.INVALID_ARGUMENT, "iops");
    }

    @Test
    void aPlaceThatIsNotThisNodeCannotBeServed() {
      assertThatCall(
              () ->
                  csi.create(
                      request("pvc", MIB)
                          .setAccessibilityRequirements(
                              TopologyRequirement.newBuilder()
                                  .addRequisite(
                                      Topology.newBuilder()
                                          .putSegments(FileModeDriver.NAME + "/node", "other")))))
          .fails(Code.RESOURCE_EXHAUSTED, "accessibility_requirements");
    }

    @Test
    void thisNodeAmongOthersIsFine() {
      csi.create(
          request("pvc", MIB)
              .setAccessibilityRequirements(
                  TopologyRequirement.newBuilder()
                      .addRequisite(
                          Topology.newBuilder().putSegments(FileModeDriver.NAME + "/node", "other"))
                      .addRequisite(
                          Topology.newBuilder()
                              .putSegments(FileModeDriver.NAME + "/node", FileModeDriver.NODE))));
    }
  }

  @Nested
  class DeleteVolume {

    @Test
    void anIdIsNeeded() {
      assertThatCall(() -> csi.delete("")).fails(Code.INVALID_ARGUMENT, "volume_id is missing");
    }

    @ParameterizedTest
    @ValueSource(strings = {UNKNOWN, "../../etc/passwd", "a b", "-", "\u0000"})
    void whatIsNotThereWasDeletedBefore(String id) {
      csi.delete(id);
    }

    @Test
    void deletingTwiceIsFine() {
      String id = csi.create("pvc", MIB).getVolumeId();

      csi.delete(id);
      csi.delete(id);
    }
  }

  @Nested
  class ValidateVolumeCapabilities {

    private ValidateVolumeCapabilitiesResponse validate(String id, VolumeCapability... wanted) {
      return driver
          .controller()
          .validateVolumeCapabilities(
              ValidateVolumeCapabilitiesRequest.newBuilder()
                  .setVolumeId(id)
                  .addAllVolumeCapabilities(List.of(wanted))
                  .putVolumeContext("name", "pvc")
                  .build());
    }

    @Test
    void anIdIsNeeded() {
      assertThatCall(() -> validate("", mount(""))).fails(Code.INVALID_ARGUMENT, "volume_id");
    }

    @Test
    void capabilitiesAreNeeded() {
      String id = csi.create("pvc", MIB).getVolumeId();

      assertThatCall(() -> validate(id)).fails(Code.INVALID_ARGUMENT, "volume_capabilities");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> validate(UNKNOWN, mount(""))).fails(Code.NOT_FOUND, UNKNOWN);
    }

    @Test
    void whatIsSupportedIsConfirmed() {
      String id = csi.create("pvc", MIB).getVolumeId();

      ValidateVolumeCapabilitiesResponse answer = validate(id, mount("ext4"), block());

      assertThat(answer.getConfirmed().getVolumeCapabilitiesList())
          .containsExactly(mount("ext4"), block());
      assertThat(answer.getConfirmed().getVolumeContextMap()).containsEntry("name", "pvc");
    }

    @Test
    void whatIsNotSupportedIsNotConfirmedAndSaysWhy() {
      String id = csi.create("pvc", MIB).getVolumeId();

      ValidateVolumeCapabilitiesResponse answer =
          validate(id, with(mount(""), Mode.MULTI_NODE_MULTI_WRITER));

      assertThat(answer.hasConfirmed()).isFalse();
      assertThat(answer.getMessage()).contains("MULTI_NODE_MULTI_WRITER");
    }
  }

  @Nested
  class Expansion {

    private ControllerExpandVolumeResponse expand(String id, long required, long limit) {
      return driver
          .controller()
          .controllerExpandVolume(
              ControllerExpandVolumeRequest.newBuilder()
                  .setVolumeId(id)
                  .setCapacityRange(
                      CapacityRange.newBuilder().setRequiredBytes(required).setLimitBytes(limit))
                  .build());
    }

    private long expandOnNode(String id, Path path, long required) {
      return driver
          .node()
          .nodeExpandVolume(
              NodeExpandVolumeRequest.newBuilder()
                  .setVolumeId(id)
                  .setVolumePath(path.toString())
                  .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(required))
                  .build())
          .getCapacityBytes();
    }

    @Test
    void anIdIsNeeded() {
      assertThatCall(() -> expand("", MIB, 0)).fails(Code.INVALID_ARGUMENT, "volume_id");
    }

    @Test
    void aSizeIsNeeded() {
      String id = csi.create("pvc", MIB).getVolumeId();

      assertThatCall(
              () ->
                  driver
                      .controller()
                      .controllerExpandVolume(
                          ControllerExpandVolumeRequest.newBuilder().setVolumeId(id).build()))
          .fails(Code.INVALID_ARGUMENT, "capacity_range");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> expand(UNKNOWN, MIB, 0)).fails(Code.NOT_FOUND);
    }

    @Test
    void aVolumeGrows() {
      String id = csi.create("pvc", 4 * MIB).getVolumeId();

      ControllerExpandVolumeResponse answer = expand(id, 9 * MIB, 0);

      assertThat(answer.getCapacityBytes()).isEqualTo(12 * MIB);
      assertThat(answer.getNodeExpansionRequired()).isTrue();
      assertThat(list(0, "").getEntries(0).getVolume().getCapacityBytes()).isEqualTo(12 * MIB);
    }

    @Test
    void growingAgainToTheSameSizeChangesNothing() {
      String id = csi.create("pvc", 4 * MIB).getVolumeId();
      expand(id, 9 * MIB, 0);

      assertThat(expand(id, 9 * MIB, 0).getCapacityBytes()).isEqualTo(12 * MIB);
    }

    @Test
    void volumesNeverShrink() {
      String id = csi.create("pvc", 16 * MIB).getVolumeId();

      assertThat(expand(id, 4 * MIB, 0).getCapacityBytes()).isEqualTo(16 * MIB);
      assertThatCall(() -> expand(id, 4 * MIB, 8 * MIB)).fails(Code.OUT_OF_RANGE, "never shrink");
    }

    @Test
    void thereMustBeRoom() {
      String id = csi.create("pvc", 16 * MIB).getVolumeId();

      assertThatCall(() -> expand(id, 1L << 50, 0)).fails(Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void onTheNodeIdAndPathAreNeeded() {
      assertThatCall(() -> expandOnNode("", target(), 0)).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(
              () ->
                  driver
                      .node()
                      .nodeExpandVolume(
                          NodeExpandVolumeRequest.newBuilder().setVolumeId(UNKNOWN).build()))
          .fails(Code.INVALID_ARGUMENT, "volume_path");
    }

    @Test
    void onTheNodeTheVolumeMustExist() {
      assertThatCall(() -> expandOnNode(UNKNOWN, target(), 0)).fails(Code.NOT_FOUND);
    }

    @Test
    void onTheNodeTheVolumeMustBeAtThePath() {
      String id = csi.create("pvc", MIB).getVolumeId();

      assertThatCall(() -> expandOnNode(id, target(), 0)).fails(Code.NOT_FOUND, "not mounted");
    }

    @Test
    void onTheNodeARawBlockVolumeIsLargerAtOnce() {
      Volume volume = csi.create("pvc", 4 * MIB);
      csi.publish(volume, staging(), target(), block());

      expand(volume.getVolumeId(), 8 * MIB, 0);

      assertThat(expandOnNode(volume.getVolumeId(), target(), 8 * MIB)).isEqualTo(8 * MIB);
      csi.unpublish(volume.getVolumeId(), target());
    }

    @Test
    void aKataVolumeCannotGrow() {
      String id =
          csi.create(request("pvc", 16 * MIB).putParameters("kataContainers", "1")).getVolumeId();

      assertThatCall(() -> expand(id, 32 * MIB, 0)).fails(Code.FAILED_PRECONDITION, "Kata");
    }
  }

  @Nested
  class NodeInformation {

    @Test
    void theNodeIsNamedAndItsPlaceToo() {
      NodeGetInfoResponse info = driver.node().nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());

      assertThat(info.getNodeId()).isEqualTo(FileModeDriver.NODE);
      assertThat(info.getMaxVolumesPerNode()).isZero();
      assertThat(info.getAccessibleTopology().getSegmentsMap())
          .containsExactly(Map.entry(FileModeDriver.NAME + "/node", FileModeDriver.NODE));
    }

    @Test
    void theCapabilitiesNameEachCallThatWorks() {
      assertThat(
              driver
                  .node()
                  .nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(c -> c.getRpc().getType())
          .containsExactlyInAnyOrder(
              NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME,
              NodeServiceCapability.RPC.Type.GET_VOLUME_STATS,
              NodeServiceCapability.RPC.Type.EXPAND_VOLUME,
              NodeServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER);
    }
  }

  @Nested
  class NodeStage {

    private NodeStageVolumeRequest.Builder good(Volume volume) {
      return NodeStageVolumeRequest.newBuilder()
          .setVolumeId(volume.getVolumeId())
          .setStagingTargetPath(staging().toString())
          .setVolumeCapability(mount("ext4"));
    }

    private void stage(NodeStageVolumeRequest.Builder request) {
      assertThat(driver.node().nodeStageVolume(request.build())).isNotNull();
    }

    @Test
    void idPathAndCapabilityAreNeeded() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).clearVolumeId()))
          .fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> stage(good(volume).clearStagingTargetPath()))
          .fails(Code.INVALID_ARGUMENT, "staging_target_path");
      assertThatCall(() -> stage(good(volume).clearVolumeCapability()))
          .fails(Code.INVALID_ARGUMENT, "volume_capability");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> stage(good(Volume.newBuilder().setVolumeId(UNKNOWN).build())))
          .fails(Code.NOT_FOUND, UNKNOWN);
    }

    @Test
    void pathsMustBeAbsolute() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setStagingTargetPath("relative")))
          .fails(Code.INVALID_ARGUMENT, "\"relative\" is not an absolute path");
    }

    @Test
    void anUnknownContextIsInvalid() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).putVolumeContext("colour", "red")))
          .fails(Code.INVALID_ARGUMENT, "persistent volume context: ");
    }

    @Test
    void stagingTwiceIsFine() {
      Volume volume = csi.create("pvc", 16 * MIB);
      stage(good(volume));
      stage(good(volume));

      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void stagingTwiceWithOtherFlagsIsNot() {
      Volume volume = csi.create("pvc", 16 * MIB);
      stage(good(volume));

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", "noatime"))))
          .fails(Code.ALREADY_EXISTS, "noatime");
      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.ALREADY_EXISTS, "xfs");

      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void mountFlagsAreUsed() {
      Volume volume = csi.create("pvc", 16 * MIB);

      stage(good(volume).setVolumeCapability(mount("ext4", "noatime", "nosuid")));

      assertThat(MountTable.read().at(staging()).orElseThrow().options())
          .contains("noatime", "nosuid");
      csi.unstage(volume.getVolumeId(), staging());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bind", "remount", "a,b", "", "a b", "move", "loop", "X-mount.mkdir"})
    void dangerousMountFlagsAreInvalid(String flag) {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", flag))))
          .fails(Code.INVALID_ARGUMENT, "mount_flags \"" + flag + "\"");
    }

    @Test
    void aFlagThatTheKernelRefusesReachesTheCallerAndLeavesNoMount() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", "nonsense"))))
          .fails(Code.INTERNAL, "nonsense");
    }

    @Test
    void xfsNeedsALargerVolume() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.FAILED_PRECONDITION, "xfs needs at least");
    }

    @Test
    void aRawBlockVolumeIsNotMounted() {
      Volume volume = csi.create("pvc", 16 * MIB);

      stage(good(volume).setVolumeCapability(block()));

      assertThat(MountTable.read().at(staging())).isEmpty();
      csi.unstage(volume.getVolumeId(), staging());
    }
  }

  @Nested
  class NodeUnstage {

    private void unstage(String id, String path) {
      assertThat(
              driver
                  .node()
                  .nodeUnstageVolume(
                      NodeUnstageVolumeRequest.newBuilder()
                          .setVolumeId(id)
                          .setStagingTargetPath(path)
                          .build()))
          .isNotNull();
    }

    @Test
    void idAndPathAreNeeded() {
      assertThatCall(() -> unstage("", "/x")).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> unstage(UNKNOWN, ""))
          .fails(Code.INVALID_ARGUMENT, "staging_target_path");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> unstage(UNKNOWN, staging().toString())).fails(Code.NOT_FOUND);
    }

    @Test
    void whatIsNotStagedIsUnstaged() {
      Volume volume = csi.create("pvc", 16 * MIB);

      unstage(volume.getVolumeId(), staging().toString());
    }
  }

  @Nested
  class NodePublish {

    private Volume staged() {
      Volume volume = csi.create("pvc", 16 * MIB);
      csi.stage(volume, staging(), mount("ext4"));
      return volume;
    }

    private void unstage(Volume volume) {
      csi.unstage(volume.getVolumeId(), staging());
    }

    private NodePublishVolumeRequest.Builder good(Volume volume) {
      return Calls.publication(volume, staging(), target(), mount("ext4"));
    }

    @Test
    void idPathAndCapabilityAreNeeded() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> csi.publish(good(volume).clearVolumeId()))
          .fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> csi.publish(good(volume).clearTargetPath()))
          .fails(Code.INVALID_ARGUMENT, "target_path");
      assertThatCall(() -> csi.publish(good(volume).clearVolumeCapability()))
          .fails(Code.INVALID_ARGUMENT, "volume_capability");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> csi.publish(good(Volume.newBuilder().setVolumeId(UNKNOWN).build())))
          .fails(Code.NOT_FOUND, UNKNOWN);
    }

    @Test
    void theVolumeMustBeStaged() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> csi.publish(good(volume).clearStagingTargetPath()))
          .fails(Code.FAILED_PRECONDITION, "staging_target_path");
      assertThatCall(() -> csi.publish(good(volume))).fails(Code.FAILED_PRECONDITION, "not staged");
    }

    @Test
    void publishingTwiceIsFine() {
      Volume volume = staged();
      csi.publish(good(volume));
      csi.publish(good(volume));

      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void publishingTwiceInAnotherWayIsNot() {
      Volume volume = staged();
      csi.publish(good(volume));

      assertThatCall(() -> csi.publish(good(volume).setReadonly(true)))
          .fails(Code.ALREADY_EXISTS, "writable");
      assertThatCall(() -> csi.publish(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.ALREADY_EXISTS, "xfs");

      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void severalPodsShareAVolume() throws IOException {
      Volume volume = staged();
      csi.publish(good(volume));
      csi.publish(good(volume).setTargetPath(scratch.pod("second").toString()));

      Files.writeString(target().resolve("data"), "shared");

      assertThat(scratch.pod("second").resolve("data")).hasContent("shared");
      csi.unpublish(volume.getVolumeId(), target());
      assertThat(scratch.pod("second").resolve("data")).hasContent("shared");
      csi.unpublish(volume.getVolumeId(), scratch.pod("second"));
      unstage(volume);
    }

    @Test
    void aSingleWriterHasTheVolumeForItself() {
      Volume volume = staged();
      VolumeCapability single = with(mount("ext4"), Mode.SINGLE_NODE_SINGLE_WRITER);
      csi.publish(good(volume).setVolumeCapability(single));
      csi.publish(good(volume).setVolumeCapability(single));

      assertThatCall(
              () ->
                  csi.publish(
                      good(volume)
                          .setVolumeCapability(single)
                          .setTargetPath(scratch.pod("second").toString())))
          .fails(Code.FAILED_PRECONDITION, "single writer");

      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void aSingleWriterHasARawBlockVolumeForItself() {
      Volume volume = csi.create("pvc", 16 * MIB);
      VolumeCapability single = with(block(), Mode.SINGLE_NODE_SINGLE_WRITER);
      csi.publish(good(volume).setVolumeCapability(single));

      assertThatCall(
              () ->
                  csi.publish(
                      good(volume)
                          .setVolumeCapability(single)
                          .setTargetPath(scratch.pod("second").toString())))
          .fails(Code.FAILED_PRECONDITION, "single writer");

      csi.unpublish(volume.getVolumeId(), target());
    }

    @Test
    void aReaderGetsAReadOnlyMount() {
      Volume volume = staged();
      csi.publish(
          good(volume).setVolumeCapability(with(mount("ext4"), Mode.SINGLE_NODE_READER_ONLY)));

      assertThat(MountTable.read().at(target()).orElseThrow().isReadOnly()).isTrue();
      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void anEphemeralVolumeNeedsASize() {
      assertThatCall(() -> csi.publish(Calls.ephemeral("csi-1", target(), mount(""), Map.of())))
          .fails(Code.INVALID_ARGUMENT, "\"size\" is missing");
    }

    @Test
    void anEphemeralVolumeIsNoRawBlockVolume() {
      assertThatCall(
              () ->
                  csi.publish(Calls.ephemeral("csi-1", target(), block(), Map.of("size", "16Mi"))))
          .fails(Code.INVALID_ARGUMENT, "ephemeral");
    }

    @Test
    void theEphemeralFlagMustBeTrueOrFalse() {
      assertThatCall(
              () ->
                  csi.publish(
                      Calls.ephemeral("csi-1", target(), mount(""), Map.of())
                          .putVolumeContext("csi.storage.k8s.io/ephemeral", "maybe")))
          .fails(Code.INVALID_ARGUMENT, "maybe");
    }

    @Test
    void anOldKubeletDoesNotSayThatAVolumeIsEphemeral() {
      csi.publish(
          NodePublishVolumeRequest.newBuilder()
              .setVolumeId("csi-old")
              .setTargetPath(target().toString())
              .setVolumeCapability(mount(""))
              .putVolumeContext("size", "16Mi"));

      assertThat(MountTable.read().at(target())).isPresent();
      csi.unpublish("csi-old", target());
    }

    @Test
    void aReadOnlyEphemeralVolumeIsReadOnly() {
      csi.publish(
          Calls.ephemeral("csi-1", target(), mount(""), Map.of("size", "16Mi")).setReadonly(true));

      assertThat(MountTable.read().at(target()).orElseThrow().isReadOnly()).isTrue();
      csi.unpublish("csi-1", target());
    }

    @Test
    void anEphemeralVolumeThatDoesNotFitIsRefused() {
      assertThatCall(
              () ->
                  csi.publish(Calls.ephemeral("csi-1", target(), mount(""), Map.of("size", "1Pi"))))
          .fails(Code.RESOURCE_EXHAUSTED);
    }
  }

  @Nested
  class NodeUnpublish {

    @Test
    void idAndPathAreNeeded() {
      assertThatCall(() -> csi.unpublish("", target())).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(
              () ->
                  driver
                      .node()
                      .nodeUnpublishVolume(
                          NodeUnpublishVolumeRequest.newBuilder().setVolumeId(UNKNOWN).build()))
          .fails(Code.INVALID_ARGUMENT, "target_path");
    }

    /** On purpose not NOT_FOUND: a pod whose inline volume is gone must be able to go, too. */
    @Test
    void anUnknownVolumeThatIsNotMountedIsFine() {
      csi.unpublish(UNKNOWN, target());
    }

    @Test
    void anUnknownVolumeWhereSomethingIsMountedIsNot() {
      Volume volume = csi.create("pvc", 16 * MIB);
      csi.stage(volume, staging(), mount("ext4"));

      assertThatCall(() -> csi.unpublish(UNKNOWN, staging())).fails(Code.NOT_FOUND);

      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void theTargetPathIsRemoved() throws IOException {
      Volume volume = csi.create("pvc", 16 * MIB);
      csi.publish(volume, staging(), target(), block());
      assertThat(target()).exists();

      csi.unpublish(volume.getVolumeId(), target());
      assertThat(target()).doesNotExist();
      csi.unpublish(volume.getVolumeId(), target());
    }

    @Test
    void dataThatWasWrittenWithoutAMountIsNotRemoved() throws IOException {
      Volume volume = csi.create("pvc", 16 * MIB);
      Files.createDirectory(target());
      Files.writeString(target().resolve("data"), "precious");

      assertThatCall(() -> csi.unpublish(volume.getVolumeId(), target()))
          .fails(Code.FAILED_PRECONDITION, "not empty");

      Files.delete(target().resolve("data"));
      csi.unpublish(volume.getVolumeId(), target());
    }
  }

  @Nested
  class Statistics {

    private NodeGetVolumeStatsResponse stats(String id, String path) {
      return driver
          .node()
          .nodeGetVolumeStats(
              NodeGetVolumeStatsRequest.newBuilder().setVolumeId(id).setVolumePath(path).build());
    }

    @Test
    void idAndPathAreNeeded() {
      assertThatCall(() -> stats("", "/x")).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> stats(UNKNOWN, "")).fails(Code.INVALID_ARGUMENT, "volume_path");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> stats(UNKNOWN, "/x")).fails(Code.NOT_FOUND);
    }

    @Test
    void theVolumeMustBeAtThePath() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stats(volume.getVolumeId(), target().toString()))
          .fails(Code.NOT_FOUND, "not mounted");
      assertThatCall(() -> stats(volume.getVolumeId(), "some/path"))
          .fails(Code.NOT_FOUND, "not mounted");
    }

    @Test
    void bytesAndInodesOfAFilesystemAddUp() throws IOException {
      Volume volume = csi.create("pvc", 32 * MIB);
      csi.stage(volume, staging(), mount("ext4"));
      Files.write(staging().resolve("data"), new byte[(int) (4 * MIB)]);

      List<VolumeUsage> usage = stats(volume.getVolumeId(), staging().toString()).getUsageList();

      assertThat(usage)
          .extracting(VolumeUsage::getUnit)
          .containsExactly(VolumeUsage.Unit.BYTES, VolumeUsage.Unit.INODES);
      assertThat(usage.getFirst().getUsed()).isGreaterThan(4 * MIB);
      assertThat(usage).allMatch(u -> u.getUsed() + u.getAvailable() <= u.getTotal());
      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void aRawBlockVolumeHasItsSize() {
      Volume volume = csi.create("pvc", 32 * MIB);
      csi.publish(volume, staging(), target(), block());

      VolumeUsage usage = stats(volume.getVolumeId(), target().toString()).getUsage(0);

      assertThat(usage.getTotal()).isEqualTo(32 * MIB);
      csi.unpublish(volume.getVolumeId(), target());
    }
  }

  @Nested
  class WholeLife {

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void everyCallCanBeRepeated(int times) {
      CreateVolumeRequest.Builder request = request("pvc", 16 * MIB);
      Volume volume = csi.create(request);
      IntStream.range(0, times).forEach(_ -> csi.create(request));
      IntStream.range(0, times).forEach(_ -> csi.stage(volume, staging(), mount("ext4")));
      IntStream.range(0, times)
          .forEach(_ -> csi.publish(volume, staging(), target(), mount("ext4")));
      IntStream.range(0, times).forEach(_ -> csi.unpublish(volume.getVolumeId(), target()));
      IntStream.range(0, times).forEach(_ -> csi.unstage(volume.getVolumeId(), staging()));
      IntStream.range(0, times).forEach(_ -> csi.delete(volume.getVolumeId()));
    }
  }
}
