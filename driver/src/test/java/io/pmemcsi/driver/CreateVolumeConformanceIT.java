package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.Calls.with;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import io.grpc.Status.Code;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of the CSI specification for CreateVolume. */
class CreateVolumeConformanceIT extends SharedDriver {

  @Test
  void aNameIsRequired() {
    assertThatCall(() -> csi.create("", MIB)).fails(Code.INVALID_ARGUMENT, "name is missing");
  }

  @Test
  void capabilitiesAreRequired() {
    assertThatCall(() -> csi.create(request("pvc", MIB).clearVolumeCapabilities()))
        .fails(Code.INVALID_ARGUMENT, "volume_capabilities is missing");
  }

  @Test
  void anAccessTypeIsRequired() {
    assertThatCall(
            () ->
                csi.create(
                    request("pvc", MIB)
                        .clearVolumeCapabilities()
                        .addVolumeCapabilities(mount("").toBuilder().clearMount())))
        .fails(Code.INVALID_ARGUMENT, "access_type is missing");
  }

  @Test
  void anAccessModeIsRequired() {
    assertThatCall(
            () ->
                csi.create(
                    request("pvc", MIB)
                        .clearVolumeCapabilities()
                        .addVolumeCapabilities(mount("").toBuilder().clearAccessMode())))
        .fails(Code.INVALID_ARGUMENT, "access_mode is missing");
  }

  @Test
  void withoutASizeTheVolumeHasTheMinimumSize() {
    Volume volume = csi.create(request("pvc", 0).clearCapacityRange());

    assertThat(volume.getCapacityBytes()).isEqualTo(4 * MIB);
  }

  @Test
  void zeroBytesMeanTheMinimumSize() {
    assertThat(csi.create("pvc", 0).getCapacityBytes()).isEqualTo(4 * MIB);
  }

  @Test
  void theVolumeIsAtLeastAsLargeAsRequested() {
    assertThat(csi.create("pvc", 4 * MIB + 1).getCapacityBytes()).isEqualTo(8 * MIB);
  }

  @Test
  void theResponseHasTheNodeAsAccessibleTopology() {
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
  void aRepeatedCallReturnsTheSameVolume() {
    assertThat(csi.create("pvc", 10 * MIB)).isEqualTo(csi.create("pvc", 10 * MIB));
  }

  @Test
  void aSmallerSizeIsCompatibleWithTheExistingVolume() {
    Volume volume = csi.create("pvc", 10 * MIB);

    assertThat(csi.create("pvc", 5 * MIB)).isEqualTo(volume);
  }

  @Test
  void aLargerSizeIsIncompatibleWithTheExistingVolume() {
    csi.create("pvc", 10 * MIB);

    assertThatCall(() -> csi.create("pvc", 20 * MIB)).fails(Code.ALREADY_EXISTS, "12582912");
  }

  @Test
  void aLimitBelowTheExistingVolumeIsIncompatible() {
    csi.create("pvc", 10 * MIB);

    assertThatCall(
            () ->
                csi.create(
                    request("pvc", 0)
                        .setCapacityRange(CapacityRange.newBuilder().setLimitBytes(5 * MIB))))
        .fails(Code.ALREADY_EXISTS);
  }

  @Test
  void otherParametersAreIncompatible() {
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
  void namesWithUnusualCharactersWork(String name) {
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
  void aLimitBelowTheMinimumSizeIsOutOfRange() {
    assertThatCall(
            () ->
                csi.create(
                    request("pvc", 0)
                        .setCapacityRange(
                            CapacityRange.newBuilder().setRequiredBytes(1).setLimitBytes(MIB))))
        .fails(Code.OUT_OF_RANGE, "limit_bytes 1048576");
  }

  @Test
  void aSatisfiableLimitIsRespected() {
    Volume volume =
        csi.create(
            request("pvc", 0)
                .setCapacityRange(
                    CapacityRange.newBuilder().setRequiredBytes(MIB).setLimitBytes(4 * MIB)));

    assertThat(volume.getCapacityBytes()).isEqualTo(4 * MIB);
  }

  @Test
  void onePebibyteIsRefused() {
    assertThatCall(() -> csi.create("pvc", 1L << 50))
        .fails(Code.RESOURCE_EXHAUSTED, "not enough space for 1125899906842624 bytes");
  }

  @Test
  void theLargestInt64SizeIsRefused() {
    assertThatCall(() -> csi.create("pvc", Long.MAX_VALUE)).fails(Code.RESOURCE_EXHAUSTED);
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
  void singleNodeAccessModesAreSupported(Mode mode) {
    csi.create(
        request("pvc", MIB).clearVolumeCapabilities().addVolumeCapabilities(with(mount(""), mode)));
  }

  @ParameterizedTest
  @EnumSource(
      value = Mode.class,
      names = {"MULTI_NODE_READER_ONLY", "MULTI_NODE_SINGLE_WRITER", "MULTI_NODE_MULTI_WRITER"})
  void multiNodeAccessModesAreInvalid(Mode mode) {
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
  void anEmptyContentSourceIsInvalid() {
    assertThatCall(
            () ->
                csi.create(
                    request("pvc", MIB)
                        .setVolumeContentSource(VolumeContentSource.getDefaultInstance())))
        .fails(Code.INVALID_ARGUMENT, "volume_content_source");
  }

  @Test
  void mutableParametersAreInvalid() {
    assertThatCall(() -> csi.create(request("pvc", MIB).putChangeableParameters("iops", "1")))
        .fails(Code.INVALID_ARGUMENT, "iops");
  }

  @Test
  void aTopologyWithoutThisNodeIsRefused() {
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
  void aTopologyWithThisNodeAmongOthersIsAccepted() {
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
