package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.Volume;
import csi.v1.VolumeUsage;
import io.grpc.Status;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lifecycle of volumes, over the socket, with real filesystems and mounts. */
class LifecycleIT extends DriverPerTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "ext4", "xfs"})
  void dataSurvivesUnpublishAndRestart(String type) throws IOException {
    Volume volume = csi.create(Calls.request("pvc-1", 320 * MIB));
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    csi.stage(volume, staging, mount(type));
    csi.publish(volume, staging, target, mount(type));
    Files.writeString(target.resolve("data"), "kept");

    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
    restart();
    csi.stage(volume, staging, mount(type));
    csi.publish(volume, staging, target, mount(type));

    assertThat(target.resolve("data")).hasContent("kept");
    csi.unpublish(volume.getVolumeId(), target);
    assertThat(target).doesNotExist();
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.deleteIfExists(staging);
  }

  /** Without the extent size hint, files on xfs are not aligned for huge pages. */
  @Test
  void theNextCallFinishesWhatAFailedCallLeftUndoneAfterMounting() throws IOException {
    driver.close();
    AtomicBoolean broken = new AtomicBoolean(true);
    driver =
        FileModeDriver.start(
            scratch.directory(),
            command ->
                runner.run(
                    broken.get() && command.program().equals("xfs_io")
                        ? Command.of("false")
                        : command),
            new DurableFiles(),
            FileModeDriver.POOL);
    csi = new Calls(driver);
    Volume volume = csi.create("pvc-1", 320 * MIB);
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    Runnable stage = () -> csi.stage(volume, staging, mount("xfs"));
    Runnable publish =
        () -> csi.publish(Calls.ephemeral("csi-1", target, mount("xfs"), Map.of("size", "320Mi")));
    CsiAssert.assertThatCall(stage::run).fails(Status.Code.INTERNAL, "false");
    broken.set(false);

    stage.run();

    assertThat(extentSize(staging)).startsWith("[2097152]");
    publish.run();
    runner.run(Command.of("xfs_io", "-c", "extsize 0", target.toString()));
    publish.run();
    assertThat(extentSize(target)).startsWith("[2097152]");
    csi.unpublish("csi-1", target);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  private String extentSize(Path directory) {
    return runner.run(Command.of("xfs_io", "-c", "extsize", directory.toString())).stdout();
  }

  @Test
  void aRawBlockVolumeIsTheDeviceItself() throws IOException {
    Volume volume = csi.create(Calls.request("raw", 8 * MIB));
    Path target = scratch.pod("device");
    csi.stage(volume, scratch.pod("staging"), block());
    csi.publish(volume, scratch.pod("staging"), target, block());
    csi.publish(volume, scratch.pod("staging"), target, block());

    Files.write(target, new byte[] {1, 2, 3, 4});

    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ext4", "xfs"})
  void anEphemeralVolumeLivesAsLongAsItsPod(String type) throws IOException {
    Path target = scratch.pod("inline");
    for (int i = 0; i < 3; i++) {
      csi.publish(Calls.ephemeral("csi-inline", target, mount(type), Map.of("size", "300Mi")));
      csi.publish(Calls.ephemeral("csi-inline", target, mount(type), Map.of("size", "300Mi")));
      assertThat(target.resolve("data")).doesNotExist();
      Files.writeString(target.resolve("data"), "scratch");
      csi.unpublish("csi-inline", target);
      csi.unpublish("csi-inline", target);
    }
  }

  @Test
  void aVolumePublishedReadOnlyCannotBeWritten() throws IOException {
    Volume volume = csi.create("pvc-ro", 16 * MIB);
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    csi.stage(volume, staging, mount("ext4", "noatime"));
    csi.publish(
        Calls.publication(volume, staging, target, mount("ext4", "noatime")).setReadonly(true));
    csi.publish(
        Calls.publication(volume, staging, target, mount("ext4", "noatime")).setReadonly(true));

    MountEntry there = MountTable.read().at(target).orElseThrow();
    assertThat(there.isReadOnly()).isTrue();
    assertThat(there.options()).contains("noatime");
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.deleteIfExists(staging);
  }

  /** mount(8) would fall back to a read-only mount with only a warning. */
  @Test
  void stagingAReadOnlyDeviceFailsInsteadOfMountingItReadOnly() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    csi.unstage(volume.getVolumeId(), staging);
    String device = device(volume.getVolumeId()).toString();
    runner.run(Command.of("blockdev", "--setro", device));

    try {
      CsiAssert.assertThatCall(() -> csi.stage(volume, staging, mount("ext4")))
          .fails(Status.Code.INTERNAL, "write-protected");

      assertThat(MountTable.read().at(staging)).isEmpty();
      csi.stage(volume, staging, mount("ext4", "ro"));
      assertThat(MountTable.read().at(staging).orElseThrow().isReadOnly()).isTrue();
      csi.unstage(volume.getVolumeId(), staging);
    } finally {
      // the kernel keeps the flag for the next user of the device
      runner.run(Command.of("blockdev", "--setrw", device));
    }
    csi.delete(volume.getVolumeId());
    Files.deleteIfExists(staging);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ext4", "xfs"})
  void aVolumeInUseIsExpanded(String type) throws IOException {
    assumeTrue(
        type.equals("xfs") || mayResizeExt4(), "the kernel requires CAP_SYS_RESOURCE for ext4");
    Volume volume = csi.create("pvc-expand", 320 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount(type));
    long before = total(volume, staging);

    assertThat(csi.expand(volume.getVolumeId(), staging, 640 * MIB)).isEqualTo(640 * MIB);

    assertThat(total(volume, staging)).isGreaterThan(before + 250 * MIB);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.deleteIfExists(staging);
  }

  private static boolean mayResizeExt4() throws IOException {
    String effective =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("CapEff:"))
            .findFirst()
            .orElseThrow()
            .replace("CapEff:", "")
            .strip();
    return (Long.parseUnsignedLong(effective, 16) >> 24 & 1) == 1;
  }

  private long total(Volume volume, Path path) {
    return driver
        .node()
        .nodeGetVolumeStats(
            NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path.toString())
                .build())
        .getUsageList()
        .stream()
        .filter(usage -> usage.getUnit() == VolumeUsage.Unit.BYTES)
        .findFirst()
        .orElseThrow()
        .getTotal();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ext4", "xfs"})
  void aKataVolumeIsAFilesystemInAnImageFile(String type) throws IOException {
    Volume volume =
        csi.create(Calls.request("kata", 700 * MIB).putParameters("kataContainers", "true"));
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    csi.stage(volume, staging, mount(type));
    for (int i = 0; i < 2; i++) {
      // an empty fs_type means the recorded filesystem
      String requested = i == 0 ? type : "";
      csi.publish(volume, staging, target, mount(requested));
      csi.publish(volume, staging, target, mount(requested));
      assertThat(staging.resolve("kata-containers-pmem-csi-vm.img")).exists();
      if (i == 0) {
        Files.writeString(target.resolve("data"), "kept");
      }
      assertThat(target.resolve("data")).hasContent("kept");
      csi.unpublish(volume.getVolumeId(), target);
    }
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.deleteIfExists(staging);
  }
}
