package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.Calls.with;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CreateVolumeRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import io.grpc.Status.Code;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of the CSI specification for publishing volumes. */
class NodePublishConformanceIT extends SharedDriver {

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
    void idPathAndCapabilityAreRequired() {
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

    /** The kernel's mount table shows the target of a symbolic link. */
    @Test
    void pathsMayLeadThroughASymbolicLink() throws IOException {
      Path link = Files.createSymbolicLink(scratch.directory().resolve("kubelet"), scratch.pods());
      Path staging = link.resolve("staging");
      Path target = link.resolve("target");
      Volume volume = csi.create("pvc", 16 * MIB);
      try {
        for (int again = 0; again < 2; again++) {
          csi.stage(volume, staging, mount("ext4"));
          csi.publish(volume, staging, target, mount("ext4"));
        }
        assertThat(scratch.mounts()).hasSize(2);

        csi.unpublish(volume.getVolumeId(), target);
        csi.unstage(volume.getVolumeId(), staging);
        assertThat(scratch.mounts()).isEmpty();
      } finally {
        Files.delete(link);
      }
    }

    /** The kernel would follow it, and unmounting does not. */
    @Test
    void aPathThatIsASymbolicLinkIsRefusedByAllCalls() throws IOException {
      Path real = Files.createDirectory(scratch.pod("real"));
      Path link = Files.createSymbolicLink(scratch.pod("link"), real);
      Path dangling = Files.createSymbolicLink(scratch.pod("dangling"), scratch.pod("missing"));
      Volume volume = csi.create("pvc", 16 * MIB);
      String id = volume.getVolumeId();
      csi.stage(volume, staging(), mount("ext4"));
      try {
        for (Path path : List.of(link, dangling)) {
          assertThatCall(() -> csi.stage(volume, path, mount("ext4")))
              .fails(Code.INVALID_ARGUMENT, "staging_target_path")
              .saying("is a symbolic link");
          assertThatCall(() -> csi.unstage(id, path))
              .fails(Code.INVALID_ARGUMENT, "is a symbolic link");
          for (VolumeCapability capability : List.of(mount("ext4"), block())) {
            assertThatCall(() -> csi.publish(volume, staging(), path, capability))
                .fails(Code.INVALID_ARGUMENT, "target_path")
                .saying("is a symbolic link");
          }
          assertThatCall(() -> csi.unpublish(id, path))
              .fails(Code.INVALID_ARGUMENT, "is a symbolic link");
          assertThatCall(
                  () ->
                      csi.publish(
                          Calls.ephemeral("csi-link", path, mount("ext4"), Map.of("size", "16Mi"))))
              .fails(Code.INVALID_ARGUMENT, "is a symbolic link");
        }
        assertThat(scratch.mounts()).containsExactly(staging());
        assertThat(link).isSymbolicLink();
      } finally {
        csi.unstage(id, staging());
        Files.delete(dangling);
        Files.delete(link);
        Files.delete(real);
      }
    }

    @Test
    void theVolumeMustBeStaged() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> csi.publish(good(volume).clearStagingTargetPath()))
          .fails(Code.FAILED_PRECONDITION, "staging_target_path");
      assertThatCall(() -> csi.publish(good(volume))).fails(Code.FAILED_PRECONDITION, "not staged");
    }

    @Test
    void publishingTwiceSucceeds() {
      Volume volume = staged();
      csi.publish(good(volume));
      csi.publish(good(volume));

      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void publishingTwiceWithOtherOptionsIsRefused() {
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
    void aRawBlockVolumeIsNotPublishedTwiceWithOtherOptions() {
      Volume volume = csi.create("pvc", 16 * MIB);
      csi.publish(good(volume).setVolumeCapability(block()));

      assertThatCall(() -> csi.publish(good(volume).setVolumeCapability(block()).setReadonly(true)))
          .fails(Code.ALREADY_EXISTS, "writable");

      csi.unpublish(volume.getVolumeId(), target());
      csi.publish(good(volume).setVolumeCapability(block()).setReadonly(true));
      csi.publish(good(volume).setVolumeCapability(block()).setReadonly(true));
      assertThatCall(() -> csi.publish(good(volume).setVolumeCapability(block())))
          .fails(Code.ALREADY_EXISTS, "read-only");
      csi.unpublish(volume.getVolumeId(), target());
    }

    @Test
    void aKataVolumeIsNotPublishedTwiceWithOtherOptions() {
      Volume volume =
          csi.create(Calls.request("pvc", 64 * MIB).putParameters("kataContainers", "true"));
      csi.stage(volume, staging(), mount("ext4"));
      csi.publish(good(volume));

      assertThatCall(() -> csi.publish(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.ALREADY_EXISTS, "xfs");
      assertThatCall(() -> csi.publish(good(volume).setReadonly(true)))
          .fails(Code.ALREADY_EXISTS, "writable");

      assertThat(MountTable.read().at(target())).isPresent();
      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void aKataVolumeIsPublishedWithTheFlagsOfOneMount() {
      VolumeCapability capability = mount("ext4", "noexec", "nosuid", "noatime", "data=ordered");
      Volume volume =
          csi.create(Calls.request("pvc", 64 * MIB).putParameters("kataContainers", "true"));
      csi.stage(volume, staging(), capability);
      csi.publish(good(volume).setVolumeCapability(capability));
      csi.publish(good(volume).setVolumeCapability(capability));

      assertThat(MountTable.read().at(target()).orElseThrow().options())
          .contains("noexec", "nosuid", "noatime");
      assertThatCall(() -> csi.publish(good(volume).setVolumeCapability(mount("ext4", "exec"))))
          .fails(Code.ALREADY_EXISTS, "noexec");
      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    /** Earlier releases mounted the image without flags, and kubelet repeats the call. */
    @Test
    void aKataVolumeThatIsMountedWithoutFlagsStaysPublished() {
      Volume volume =
          csi.create(Calls.request("pvc", 64 * MIB).putParameters("kataContainers", "true"));
      csi.stage(volume, staging(), mount("ext4"));
      csi.publish(good(volume));

      csi.publish(good(volume).setVolumeCapability(mount("ext4", "noatime", "noexec")));

      assertThat(MountTable.read().at(target())).isPresent();
      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    /** Many of them never appear in the kernel's table. */
    @ParameterizedTest
    @ValueSource(
        strings = {
          "exec,suid,dev,atime,diratime,async",
          "strictatime",
          "noatime,nodiratime,nosuid,nodev,noexec,sync,dirsync,lazytime",
          "noatime,atime,relatime,silent,rw",
          "norelatime,loud,nolazytime,nostrictatime",
          "data=ordered,barrier=1,nofail",
          "ro,rw"
        })
    void stagingAndPublishingTwiceSucceedsWithAllMountFlags(String flags) {
      VolumeCapability capability = mount("ext4", flags.split(","));
      Volume volume = csi.create("pvc", 16 * MIB);
      csi.stage(volume, staging(), capability);
      csi.stage(volume, staging(), capability);
      NodePublishVolumeRequest.Builder writable = good(volume).setVolumeCapability(capability);
      csi.publish(writable);
      csi.publish(writable);
      NodePublishVolumeRequest.Builder readOnly =
          good(volume)
              .setVolumeCapability(capability)
              .setTargetPath(scratch.pod("second").toString())
              .setReadonly(true);
      csi.publish(readOnly);
      csi.publish(readOnly);

      assertThat(MountTable.read().at(target()).orElseThrow().isReadOnly()).isFalse();
      assertThat(MountTable.read().at(scratch.pod("second")).orElseThrow().isReadOnly()).isTrue();
      csi.unpublish(volume.getVolumeId(), scratch.pod("second"));
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
    void aSingleWriterExcludesOtherPods() {
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
    void aSingleWriterOfARawBlockVolumeExcludesOtherPods() {
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
    void aReadOnlyMountNeedsNoPendingMountRecord() throws IOException {
      Volume volume = staged();
      Path records = scratch.state().resolve("unfinished");
      Files.deleteIfExists(records);
      Files.createFile(records);

      csi.publish(good(volume).setReadonly(true));

      assertThat(records).isRegularFile();
      csi.unpublish(volume.getVolumeId(), target());
      Files.delete(records);
      unstage(volume);
    }

    @Test
    void aReaderOnlyVolumeIsMountedReadOnly() {
      Volume volume = staged();
      csi.publish(
          good(volume).setVolumeCapability(with(mount("ext4"), Mode.SINGLE_NODE_READER_ONLY)));

      assertThat(MountTable.read().at(target()).orElseThrow().isReadOnly()).isTrue();
      csi.unpublish(volume.getVolumeId(), target());
      unstage(volume);
    }

    @Test
    void anEphemeralVolumeRequiresASize() {
      assertThatCall(() -> csi.publish(Calls.ephemeral("csi-1", target(), mount(""), Map.of())))
          .fails(Code.INVALID_ARGUMENT, "\"size\" is missing");
    }

    @Test
    void anEphemeralVolumeCannotBeARawBlockVolume() {
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
    void anEphemeralVolumeOfAnOldKubeletIsRecognizedWithoutTheFlag() {
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
    void idAndPathAreRequired() {
      assertThatCall(() -> csi.unpublish("", target())).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(
              () ->
                  driver
                      .node()
                      .nodeUnpublishVolume(
                          NodeUnpublishVolumeRequest.newBuilder().setVolumeId(UNKNOWN).build()))
          .fails(Code.INVALID_ARGUMENT, "target_path");
    }

    /**
     * Deliberately not NOT_FOUND: kubelet must be able to delete a pod whose inline volume no
     * longer exists.
     */
    @Test
    void unpublishingAnUnknownVolumeThatIsNotMountedSucceeds() {
      csi.unpublish(UNKNOWN, target());
    }

    @Test
    void unpublishingAnUnknownVolumeFailsIfTheTargetIsMounted() {
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
  class VolumeLifecycle {

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
