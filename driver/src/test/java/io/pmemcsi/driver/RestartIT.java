package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Volume;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.state.StateLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** State after a restart of the driver or of its node. */
class RestartIT extends DriverPerTest {

  @Test
  void volumesAndCapacityAreTheSameAfterARestart() {
    Volume volume = csi.create("pvc-1", 100 * MIB);
    long free = free();

    restart();

    assertThat(free()).isEqualTo(free).isEqualTo(FileModeDriver.POOL - 100 * MIB);
    assertThat(
            driver
                .controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntriesList())
        .extracting(entry -> entry.getVolume().getVolumeId())
        .containsExactly(volume.getVolumeId());
    assertThat(csi.create("pvc-1", 100 * MIB)).isEqualTo(volume);
    assertThat(findings()).isEmpty();
    csi.delete(volume.getVolumeId());
    assertThat(free()).isEqualTo(FileModeDriver.POOL);
  }

  private long free() {
    return driver
        .controller()
        .getCapacity(GetCapacityRequest.getDefaultInstance())
        .getAvailableCapacity();
  }

  @Test
  void aDeviceAfterARebootIsAttachedAgain() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    Files.writeString(scratch.pod("staging").resolve("data"), "kept");
    // as after a reboot: no mounts, no loop devices, the files remain
    driver.close();
    runner.run(Command.of("umount", scratch.pod("staging").toString()));
    detach(volume.getVolumeId());
    start();

    csi.stage(volume, scratch.pod("staging"), mount("ext4"));

    assertThat(scratch.pod("staging").resolve("data")).hasContent("kept");
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
    Files.delete(scratch.pod("staging"));
  }

  @Test
  void aSecondDriverCannotUseTheStateDirectoryOfARunningOne() {
    assertThatThrownBy(() -> StateLock.take(scratch.state(), Duration.ZERO))
        .hasMessageContaining("another driver uses the state directory " + scratch.state());

    driver.close();
    StateLock.take(scratch.state(), Duration.ZERO).close();
    start();
  }

  /** The kernel reports mounts and loop devices by their real paths. */
  @Test
  void theStateDirectoryMayBeBehindASymbolicLink() throws IOException {
    driver.close();
    Path link = Files.createSymbolicLink(scratch.directory().resolve("link"), scratch.directory());
    DriverSettings settings = FileModeDriver.settings(link);
    Path target = scratch.pod("target");
    Path staging = scratch.pod("staging");

    try (NodeDriver _ = NodeDriver.start(settings);
        FileModeDriver client = FileModeDriver.elsewhere(link)) {
      Calls linked = new Calls(client);
      Volume volume =
          linked.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
      linked.stage(volume, staging, mount("ext4"));
      linked.publish(volume, staging, target, mount("ext4"));
      linked.publish(volume, staging, target, mount("ext4"));

      assertThat(NodeDriver.audit(settings).findings()).isEmpty();
      // staging path, target path, and the host mount of the image
      assertThat(scratch.mounts()).hasSize(3);
      linked.unpublish(volume.getVolumeId(), target);
      linked.unstage(volume.getVolumeId(), staging);
      linked.delete(volume.getVolumeId());
    }
    Files.delete(staging);
    Files.delete(link);
    start();
  }

  /** kubelet identifies an ephemeral volume by its name, in NodeUnpublishVolume too. */
  @Test
  void anEphemeralVolumeWithALegacyIdIsFoundByItsName() throws IOException {
    Path target = scratch.pod("target");
    var publication = Calls.ephemeral("csi-1", target, mount("ext4"), Map.of("size", "16Mi"));
    csi.publish(publication);
    Files.writeString(target.resolve("data"), "kept");
    driver.close();
    runner.run(Command.of("umount", target.toString()));
    String id = VolumeId.fromName("csi-1").value();
    detach(id);
    replaceId(id, "an-old-id");
    start();

    csi.publish(publication);
    assertThat(target.resolve("data")).hasContent("kept");
    csi.unpublish("csi-1", target);

    assertThat(free()).isEqualTo(FileModeDriver.POOL);
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).findings()).isEmpty();
  }

  private void replaceId(String id, String other) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(scratch.state())) {
      files = all.filter(file -> file.getFileName().toString().startsWith(id)).toList();
    }
    assertThat(files).isNotEmpty();
    for (Path file : files) {
      if (file.toString().endsWith(".json")) {
        Files.writeString(file, Files.readString(file).replace(id, other));
      }
      Files.move(file, file.resolveSibling(file.getFileName().toString().replace(id, other)));
    }
  }
}
