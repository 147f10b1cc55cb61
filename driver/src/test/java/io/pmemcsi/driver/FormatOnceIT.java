package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.ListVolumesRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.node.kata.ImageLayout;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A volume that once held a filesystem is never formatted again, whatever happened to it. */
class FormatOnceIT extends DriverPerTest {

  @Override
  @AfterEach
  void stop() {
    driver
        .controller()
        .listVolumes(ListVolumesRequest.getDefaultInstance())
        .getEntriesList()
        .forEach(entry -> csi.delete(entry.getVolume().getVolumeId()));
    super.stop();
  }

  private Volume formatted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    Files.writeString(scratch.pod("staging").resolve("data"), "precious");
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    return volume;
  }

  private Path image(Volume volume) {
    return image(volume.getVolumeId());
  }

  private Path device(Volume volume) {
    return device(volume.getVolumeId());
  }

  private void zero(Volume volume, long offset, int bytes) throws IOException {
    overwrite(device(volume), new byte[bytes], offset);
  }

  private static void overwrite(Path file, byte[] content, long offset) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(content), offset);
      channel.force(true);
    }
  }

  private void makeExt4(UUID uuid, Path where) {
    runner.run(Command.of("mkfs.ext4", "-q", "-F", "-U", uuid.toString(), where.toString()));
  }

  private VolumeState contents(Volume volume) {
    return Ledger.openForReading(scratch.state()).find(id(volume)).orElseThrow().state();
  }

  private void write(Volume volume, VolumeState contents) {
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.setState(ledger.find(id(volume)).orElseThrow(), contents);
  }

  private CsiAssert stagingFails(Volume volume, String type) {
    return CsiAssert.assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount(type)));
  }

  @Test
  void aMissingSignatureIsAnErrorThatNamesTheExpectedOne() throws IOException {
    Volume volume = formatted();
    byte[] before = Files.readAllBytes(image(volume));
    zero(volume, 0, 4096);
    byte[] damaged = Files.readAllBytes(image(volume));

    stagingFails(volume, "ext4")
        .fails(Status.Code.FAILED_PRECONDITION, volume.getVolumeId())
        .saying("not formatted again")
        .saying("expected ext4 with UUID")
        .saying("found no known signature");

    assertThat(Files.readAllBytes(image(volume))).isEqualTo(damaged).isNotEqualTo(before);
  }

  @Test
  void aMissingSignatureIsAnErrorAfterARestart() throws IOException {
    Volume volume = formatted();
    zero(volume, 0, 4096);
    driver.close();
    start();

    stagingFails(volume, "").fails(Status.Code.FAILED_PRECONDITION, "not formatted again");
  }

  @Test
  void anotherFilesystemOnTheDeviceIsAnError() throws IOException {
    Volume volume = formatted();
    runner.run(Command.of("mkfs.ext4", "-q", "-F", device(volume).toString()));

    stagingFails(volume, "ext4")
        .fails(Status.Code.FAILED_PRECONDITION, "not formatted again")
        .saying("found ext4 with UUID");
  }

  @Test
  void aFilesystemTypeOtherThanTheRecordedOneIsRefused() throws IOException {
    Volume volume = formatted();

    stagingFails(volume, "xfs").fails(Status.Code.ALREADY_EXISTS, "holds ext4, requested: xfs");
  }

  @Test
  void withoutARequestedTypeTheRecordedOneIsUsed() throws IOException {
    Volume volume = formatted();

    csi.stage(volume, scratch.pod("staging"), mount(""));

    assertThat(scratch.pod("staging").resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
  }

  @Test
  void creationWipesSignaturesOfAnEarlierVolume() throws IOException {
    driver.close();
    driver =
        FileModeDriver.start(
            scratch.directory(),
            new HostAccess(runner, new DurableFiles(), new KernelMounts(), new StaleContentLoops()),
            FileModeDriver.POOL);
    csi = new Calls(driver);

    Volume volume = csi.create("pvc-1", 16 * MIB);

    assertThat(new Signatures(runner).probe(device(volume)))
        .isEqualTo(new Signatures.Found.Nothing());
    assertThat(contents(volume)).isInstanceOf(VolumeState.Blank.class);
  }

  /** For example after a downgrade: the original driver never writes the contents records. */
  @Test
  void aFilesystemCreatedByAnotherDriverIsUsedWithItsData() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    UUID other = UUID.randomUUID();
    makeExt4(other, device(volume));
    Files.createDirectory(scratch.pod("other"));
    runner.run(Command.of("mount", device(volume).toString(), scratch.pod("other").toString()));
    Files.writeString(scratch.pod("other").resolve("data"), "precious");
    runner.run(Command.of("umount", scratch.pod("other").toString()));
    Files.delete(scratch.pod("other"));
    restart();

    stagingFails(volume, "xfs").fails(Status.Code.ALREADY_EXISTS, "holds ext4, requested: xfs");
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));

    assertThat(scratch.pod("staging").resolve("data")).hasContent("precious");
    assertThat(contents(volume))
        .isEqualTo(new VolumeState.Formatted(new VolumeState.Filesystem("ext4", other)));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
  }

  @Test
  void aFilesystemCreatedByAnotherDriverIsUsedIfNoUuidIsPlanned() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    UUID other = UUID.randomUUID();
    makeExt4(other, device(volume));
    driver.close();
    write(volume, new VolumeState.Blank(Optional.empty()));
    start();

    csi.stage(volume, scratch.pod("staging"), mount(""));

    assertThat(contents(volume))
        .isEqualTo(new VolumeState.Formatted(new VolumeState.Filesystem("ext4", other)));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
  }

  @Test
  void anUnknownSignatureOnANewVolumeIsKept() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    runner.run(Command.of("mkswap", device(volume).toString()));

    stagingFails(volume, "ext4")
        .fails(Status.Code.FAILED_PRECONDITION, "holds swap with UUID")
        .saying("it is not formatted")
        .saying("Delete the volume");

    assertThat(new Signatures(runner).probe(device(volume)))
        .isInstanceOfSatisfying(
            Signatures.Found.Signature.class, there -> assertThat(there.type()).isEqualTo("swap"));
  }

  /**
   * Killed after mkfs and before the driver recorded its result: the filesystem was never mounted.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anUnrecordedMkfsOfTheDriverIsRepeated(boolean whole) throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    UUID planned = ((VolumeState.Blank) contents(volume)).planned().orElseThrow();
    makeExt4(planned, device(volume));
    if (!whole) {
      zero(volume, 0, 4096);
    }
    restart();

    csi.stage(volume, scratch.pod("staging"), mount("ext4"));

    assertThat(contents(volume))
        .isEqualTo(new VolumeState.Formatted(new VolumeState.Filesystem("ext4", planned)));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
  }

  @Test
  void signaturesOfAnInterruptedCreationAreWiped() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    makeExt4(UUID.randomUUID(), device(volume));
    driver.close();
    write(volume, new VolumeState.Creating());
    start();

    stagingFails(volume, "ext4").fails(Status.Code.FAILED_PRECONDITION, "CreateVolume again");
    csi.create("pvc-1", 16 * MIB);

    assertThat(new Signatures(runner).probe(device(volume)))
        .isEqualTo(new Signatures.Found.Nothing());
  }

  @Test
  void aVolumeThatWasUsedAsRawBlockDeviceIsNeverFormatted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.publish(volume, scratch.pod("staging"), scratch.pod("raw"), block());
    Files.write(scratch.pod("raw"), new byte[] {42}, StandardOpenOption.WRITE);
    csi.unpublish(volume.getVolumeId(), scratch.pod("raw"));

    stagingFails(volume, "ext4")
        .fails(Status.Code.FAILED_PRECONDITION, "not formatted again")
        .saying("raw block");
  }

  @Test
  void aVolumeOfTheOriginalDriverIsUsedAsItIs() throws IOException {
    Volume volume = formatted();
    driver.close();
    Files.delete(scratch.state().resolve("contents").resolve(volume.getVolumeId() + ".json"));
    start();

    csi.stage(volume, scratch.pod("staging"), mount("ext4"));

    assertThat(scratch.pod("staging").resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    assertThat(contents(volume)).isInstanceOf(VolumeState.Formatted.class);
  }

  @Test
  void aVolumeOfTheOriginalDriverThatLooksEmptyIsNotFormatted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Files.delete(scratch.state().resolve("contents").resolve(volume.getVolumeId() + ".json"));
    start();

    stagingFails(volume, "ext4")
        .fails(Status.Code.FAILED_PRECONDITION, "not formatted again")
        .saying("earlier release");
  }

  @Test
  void theImageOfAKataVolumeIsCreatedOnce() throws IOException {
    Volume volume = formattedForKata();
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    Path image = staging.resolve("kata-containers-pmem-csi-vm.img");
    Files.move(image, staging.resolve("moved"));
    driver.close();
    start();

    CsiAssert.assertThatCall(() -> csi.publish(volume, staging, target, mount("")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not created again")
        .saying("expected kata-containers-pmem-csi-vm.img, which holds ext4 with UUID ")
        .saying("found no such file");

    assertThat(image).doesNotExist();
    Files.move(staging.resolve("moved"), image);
    csi.publish(volume, staging, target, mount(""));
    assertThat(target.resolve("data")).hasContent("precious");
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
  }

  /** A volume that is staged, with data in its image. */
  private Volume formattedForKata() throws IOException {
    Volume volume =
        csi.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    csi.publish(volume, scratch.pod("staging"), scratch.pod("target"), mount("ext4"));
    Files.writeString(scratch.pod("target").resolve("data"), "precious");
    csi.unpublish(volume.getVolumeId(), scratch.pod("target"));
    return volume;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theFilesystemInAKataImageMustMatchTheRecord(boolean vanished) throws IOException {
    Volume volume = formattedForKata();
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    VolumeState.Filesystem inside =
        Ledger.openForReading(scratch.state())
            .find(id(volume))
            .map(VolumeRecord::state)
            .map(VolumeState.Formatted.class::cast)
            .flatMap(VolumeState.Formatted::image)
            .orElseThrow();
    Path image = staging.resolve("kata-containers-pmem-csi-vm.img");
    byte[] good = Files.readAllBytes(image);
    if (vanished) {
      overwrite(image, new byte[64 << 10], ImageLayout.HEADER_BYTES);
    } else {
      LoopDevices loops = new LoopDevices(new KernelLoops());
      Path loop = loops.attach(image, ImageLayout.HEADER_BYTES);
      runner.run(Command.of("mkfs.ext4", "-q", "-F", loop.toString()));
      loops.detach(loop);
    }
    restart();

    CsiAssert.assertThatCall(() -> csi.publish(volume, staging, target, mount("")))
        .fails(Status.Code.FAILED_PRECONDITION, volume.getVolumeId())
        .saying("is not formatted again: expected " + inside)
        .saying(vanished ? "found no known signature" : "found ext4 with UUID ");

    // the failed call leaves nothing: kubelet does not unpublish it
    assertThat(scratch.state().resolve("mount").resolve(volume.getVolumeId())).doesNotExist();
    overwrite(image, good, 0);
    csi.publish(volume, staging, target, mount(""));
    assertThat(target.resolve("data")).hasContent("precious");
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
  }

  @Test
  void aFilesystemTypeOtherThanThatOfTheKataImageIsRefused() throws IOException {
    Volume volume = formattedForKata();

    CsiAssert.assertThatCall(
            () -> csi.publish(volume, scratch.pod("staging"), scratch.pod("target"), mount("xfs")))
        .fails(Status.Code.ALREADY_EXISTS, "holds ext4, requested: xfs");

    assertThat(scratch.pod("target")).doesNotExist();
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
  }

  private static VolumeId id(Volume volume) {
    return new VolumeId(volume.getVolumeId());
  }
}
