package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Volumes in use are neither erased nor deleted, and mounts of others are not unmounted. */
class InUseIT extends DriverPerTest {

  @Test
  void aVolumeInUseIsNeitherErasedNorDeleted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    Files.writeString(staging.resolve("data"), "precious");

    assertThatCall(() -> csi.delete(volume.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "mounted at " + staging);

    assertThat(staging.resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), staging);
    csi.stage(volume, staging, mount("ext4"));
    assertThat(staging.resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  @Test
  void aMountedVolumeIsNotARawBlockVolumeAtTheSameTime() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    csi.publish(volume, staging, scratch.pod("target"), mount("ext4"));

    assertThatCall(() -> csi.stage(volume, staging, block()))
        .fails(Status.Code.ALREADY_EXISTS, "is staged at " + staging + " as a filesystem");
    assertThatCall(() -> csi.stage(volume, scratch.pod("other"), block()))
        .fails(Status.Code.FAILED_PRECONDITION, "its filesystem is mounted at " + staging);
    assertThatCall(() -> csi.publish(volume, staging, scratch.pod("raw"), block()))
        .fails(Status.Code.FAILED_PRECONDITION, "its filesystem is mounted at " + staging);
    assertThat(scratch.pod("raw")).doesNotExist();

    csi.unpublish(volume.getVolumeId(), scratch.pod("target"));
    csi.unstage(volume.getVolumeId(), staging);
    csi.stage(volume, staging, block());
    csi.publish(volume, staging, scratch.pod("raw"), block());
    csi.publish(volume, staging, scratch.pod("raw"), block());
    assertThatCall(() -> csi.stage(volume, staging, mount("ext4")))
        .fails(
            Status.Code.FAILED_PRECONDITION,
            "published as a raw block volume at " + scratch.pod("raw"));
    csi.unpublish(volume.getVolumeId(), scratch.pod("raw"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aKataVolumeIsNotStagedAsARawBlockVolume() {
    Volume kata =
        csi.create(Calls.request("pvc-1", 16 * MIB).putParameters("kataContainers", "true"));

    assertThatCall(() -> csi.stage(kata, scratch.pod("staging"), block()))
        .fails(Status.Code.INVALID_ARGUMENT, "kataContainers=true");
    csi.delete(kata.getVolumeId());
  }

  @Test
  void aRawBlockVolumeInUseIsNotDeleted() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.publish(volume, scratch.pod("staging"), scratch.pod("raw"), block());

    assertThatCall(() -> csi.delete(volume.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "mounted at " + scratch.pod("raw"));

    csi.unpublish(volume.getVolumeId(), scratch.pod("raw"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aVolumeMountedByAnAdministratorIsNotDeleted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    csi.unstage(volume.getVolumeId(), staging);
    String device = device(volume.getVolumeId()).toString();
    // in another mount namespace, which the mount table of the driver does not show
    Process holder =
        new ProcessBuilder(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount " + device + " " + staging + " && echo up && exec sleep 600")
            .start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("up");

      assertThatCall(() -> csi.delete(volume.getVolumeId()))
          .fails(
              Status.Code.FAILED_PRECONDITION,
              "mounted at %s by process %d (sleep)".formatted(staging, holder.pid()));
    } finally {
      holder.destroyForcibly().onExit().join();
    }
    csi.stage(volume, staging, mount("ext4"));
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  @Test
  void aRefusedDeletionNamesTheProcessThatHasTheDeviceOpen() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    String open =
        "import os, time; os.open('%s', os.O_RDONLY | os.O_EXCL); print('up', flush=True); time.sleep(600)"
            .formatted(device(volume.getVolumeId()));
    Process holder = new ProcessBuilder("python3", "-c", open).start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("up");

      assertThatCall(() -> csi.delete(volume.getVolumeId()))
          .fails(
              Status.Code.FAILED_PRECONDITION,
              "opened by process %d (python3".formatted(holder.pid()));
    } finally {
      holder.destroyForcibly().onExit().join();
    }
    csi.delete(volume.getVolumeId());
  }

  @Test
  void unpublishUnmountsOnlyItsOwnVolume() throws IOException {
    Volume one = csi.create("pvc-1", 16 * MIB);
    Volume two = csi.create("pvc-2", 16 * MIB);
    Volume kata =
        csi.create(Calls.request("pvc-3", 16 * MIB).putParameters("kataContainers", "true"));
    csi.stage(one, scratch.pod("one"), mount("ext4"));

    assertThatCall(() -> csi.unpublish(kata.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.unstage(two.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.unpublish(two.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.stage(two, scratch.pod("one"), mount("ext4")))
        .fails(Status.Code.ALREADY_EXISTS, "something else is mounted");

    csi.unstage(one.getVolumeId(), scratch.pod("one"));
    csi.delete(one.getVolumeId());
    csi.delete(two.getVolumeId());
    csi.delete(kata.getVolumeId());
    Files.delete(scratch.pod("one"));
  }
}
