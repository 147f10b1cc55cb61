package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import csi.v1.VolumeCapability;
import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The driver in its own mount namespace, as in a pod. It shares mounts below one directory with the
 * node, where this test runs.
 */
class MountNamespacesIT extends ScratchPerTest {

  private final ProcessRunner runner = new ProcessRunner();
  private Process container;
  private FileModeDriver client;
  private Calls csi;

  @BeforeEach
  void start() throws IOException {
    String shared = scratch.directory().toString();
    runner.run(Command.of("mount", "--bind", shared, shared));
    runner.run(Command.of("mount", "--make-shared", shared));
    startContainer();
  }

  @AfterEach
  void stop() {
    stopContainer();
    runner.run(Command.of("umount", scratch.directory().toString()));
  }

  private void startContainer() throws IOException {
    container =
        new ProcessBuilder(
                "unshare",
                "--mount",
                "--propagation",
                "unchanged",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                DriverProcess.class.getName(),
                scratch.directory().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(container.inputReader().lines().anyMatch("ready"::equals)).isTrue();
    client = FileModeDriver.elsewhere(scratch.directory());
    csi = new Calls(client);
  }

  private void stopContainer() {
    client.close();
    container.destroy();
    container.onExit().join();
  }

  private void replaceContainer() throws IOException {
    stopContainer();
    startContainer();
  }

  private MountEntry onTheNode(Path path) {
    return MountTable.read().at(path).orElseThrow();
  }

  private void publishReadOnly(Volume volume, Path target, VolumeCapability capability) {
    csi.publish(
        Calls.publication(volume, scratch.pod("staging"), target, capability).setReadonly(true));
  }

  @Test
  void aReadOnlyVolumeIsReadOnlyOnTheNodeAndIsPublishedAgainByANewContainer() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path target = scratch.pod("target");
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    VolumeCapability capability = mount("ext4", "noexec");

    publishReadOnly(volume, target, capability);

    assertThat(onTheNode(target).options()).contains("ro", "noexec");
    assertThat(onTheNode(scratch.pod("staging")).options()).contains("rw");
    replaceContainer();
    publishReadOnly(volume, target, capability);
    assertThat(onTheNode(target).options()).contains("ro", "noexec");
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
  }

  /** Earlier releases mounted read-only in the container of the driver only. */
  @Test
  void aReadOnlyMountOfAnEarlierReleaseBecomesReadOnlyOnTheNode() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path target = Files.createDirectory(scratch.pod("target"));
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    runner.run(
        Command.of(
            "unshare",
            "--mount",
            "--propagation",
            "unchanged",
            "sh",
            "-c",
            "mount --bind %s %s && mount -o remount,bind,ro %s"
                .formatted(scratch.pod("staging"), target, target)));
    assertThat(onTheNode(target).options()).contains("rw");
    replaceContainer();

    publishReadOnly(volume, target, mount("ext4"));

    assertThat(onTheNode(target).options()).contains("ro");
    csi.unpublish(volume.getVolumeId(), target);
    assertThat(scratch.mounts()).containsExactly(scratch.directory(), scratch.pod("staging"));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aReadOnlyRawBlockVolumeIsReadOnlyOnTheNode() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path target = scratch.pod("target");

    publishReadOnly(volume, target, block());

    assertThat(onTheNode(target).options()).contains("ro");
    replaceContainer();
    publishReadOnly(volume, target, block());
    csi.unpublish(volume.getVolumeId(), target);
    csi.delete(volume.getVolumeId());
  }

  /** The backing file has another path in another container. */
  @Test
  void aNewContainerReportsNoFindingForAVolumeInUse() throws IOException {
    Path plain = scratch.pod("plain");
    Path kata = scratch.pod("kata");
    csi.publish(Calls.ephemeral("csi-plain", plain, mount("ext4"), Map.of("size", "16Mi")));
    csi.publish(
        Calls.ephemeral(
            "csi-kata", kata, mount("ext4"), Map.of("size", "32Mi", "kataContainers", "true")));
    replaceContainer();

    assertThat(LoopDevices.backingName(Path.of(onTheNode(plain).source())).orElseThrow())
        .startsWith("/state/devices/");
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).findings()).isEmpty();
    csi.unpublish("csi-plain", plain);
    csi.unpublish("csi-kata", kata);
  }

  /** What the kernel shows of its name is then only the end. */
  @Test
  void aNewContainerReportsTheLoopDeviceOfADeletedFile() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    Path loop = Path.of(onTheNode(scratch.pod("staging")).source());
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    Path held = Files.createDirectory(scratch.pod("held"));
    runner.run(Command.of("mount", loop.toString(), held.toString()));
    Files.delete(scratch.state().resolve("devices").resolve(volume.getVolumeId() + ".img"));
    removeRecord(volume);
    replaceContainer();

    assertThat(LoopDevices.backingName(loop).orElseThrow())
        .startsWith("/state/devices/")
        .endsWith(" (deleted)");
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).findings())
        .extracting(Finding::kind)
        .containsExactly(Kind.LEFTOVER_LOOP);
    runner.run(Command.of("umount", held.toString()));
    runner.run(Command.of("losetup", "-d", loop.toString()).alsoAccepting(1));
    Files.delete(held);
  }

  private void removeRecord(Volume volume) throws IOException {
    String name = volume.getVolumeId() + ".json";
    Files.delete(scratch.state().resolve(name));
    Files.delete(scratch.state().resolve("contents").resolve(name));
  }
}
