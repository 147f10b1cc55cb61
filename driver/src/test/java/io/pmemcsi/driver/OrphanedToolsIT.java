package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.cloned;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import csi.v1.CreateVolumeRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A tool that outlives a killed driver must not write to a volume that is in use. */
class OrphanedToolsIT {
  @TempDir private Path directory;

  /** Runs the real tool once the file "go" exists. */
  private String pathWithSlow(String tool) throws IOException {
    Path bin = Files.createDirectory(directory.resolve("bin"));
    Path wrapper = bin.resolve(tool);
    String path = System.getenv("PATH");
    Files.writeString(
        wrapper,
        """
        #!/bin/sh
        touch %1$s/started
        while [ ! -e %1$s/go ]; do sleep 0.1; done
        PATH=%2$s
        exec %3$s "$@"
        """
            .formatted(directory, path, tool));
    Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwxr-xr-x"));
    return bin + ":" + path;
  }

  @Test
  void aVolumeIsNotUsedOrDeletedWhileItRuns() throws Exception {
    try (Scratch scratch = new Scratch()) {
      Path staging = scratch.pod("staging");
      Process killed = start(scratch, pathWithSlow("mkfs.ext4"));
      Volume volume;
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        volume = csi.create("pvc-1", 16 * MIB);
        killDuring(killed, () -> csi.stage(volume, staging, mount("ext4")));
      }
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        for (Runnable call :
            List.<Runnable>of(
                () -> csi.stage(volume, staging, mount("ext4")),
                () -> csi.publish(volume, staging, scratch.pod("block"), block()),
                () -> csi.delete(volume.getVolumeId()))) {
          assertThatCall(call::run)
              .fails(
                  Status.Code.FAILED_PRECONDITION, "mkfs.ext4 of an interrupted call still runs");
        }

        Files.createFile(directory.resolve("go"));
        await()
            .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
            .until(
                () -> {
                  csi.stage(volume, staging, mount("ext4"));
                  return true;
                });
        Files.writeString(staging.resolve("data"), "kept");
        csi.unstage(volume.getVolumeId(), staging);
        csi.stage(volume, staging, mount("ext4"));
        assertThat(staging.resolve("data")).hasContent("kept");

        csi.unstage(volume.getVolumeId(), staging);
        csi.delete(volume.getVolumeId());
      }
      Files.deleteIfExists(staging);
      scratch.assertNothingLeft();
    }
  }

  /** After the deletion another volume could get the number of its device. */
  @Test
  void aVolumeIsNotDeletedWhileItIsAboutToBeMounted() throws Exception {
    try (Scratch scratch = new Scratch()) {
      Path staging = scratch.pod("staging");
      Process killed = start(scratch, pathWithSlow("mount"));
      Volume volume;
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        volume = csi.create("pvc-1", 16 * MIB);
        // a flag that only mount(8) knows
        killDuring(killed, () -> csi.stage(volume, staging, mount("ext4", "nofail")));
      }
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        assertThatCall(() -> csi.delete(volume.getVolumeId()))
            .fails(Status.Code.FAILED_PRECONDITION, "mount of an interrupted call still runs");

        Files.createFile(directory.resolve("go"));
        await().until(() -> scratch.mounts().contains(staging));
        csi.unstage(volume.getVolumeId(), staging);
        await()
            .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
            .until(
                () -> {
                  csi.delete(volume.getVolumeId());
                  return true;
                });
      }
      Files.deleteIfExists(staging);
      scratch.assertNothingLeft();
    }
  }

  /** The loop device of an incomplete image would keep the volume busy for ever. */
  @Test
  void aKataVolumeIsUnpublishedWhenItHasEnded() throws Exception {
    try (Scratch scratch = new Scratch()) {
      Path staging = scratch.pod("staging");
      Path target = scratch.pod("target");
      Volume volume;
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        volume =
            csi.create(Calls.request("pvc-1", 32 * MIB).putParameters("kataContainers", "true"));
        csi.stage(volume, staging, mount("ext4"));
      }
      Process killed = start(scratch, pathWithSlow("mkfs.ext4"));
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        killDuring(killed, () -> csi.publish(volume, staging, target, mount("ext4")));
      }
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        assertThat(driver.driver().startAudit().findings())
            .extracting(Finding::kind)
            .containsExactlyInAnyOrder(Kind.LEFTOVER_MOUNT, Kind.LEFTOVER_LOOP);
        assertThatCall(() -> csi.unpublish(volume.getVolumeId(), target))
            .fails(Status.Code.FAILED_PRECONDITION, "mkfs.ext4 of an interrupted call still runs");

        Files.createFile(directory.resolve("go"));
        await()
            .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
            .until(
                () -> {
                  csi.unpublish(volume.getVolumeId(), target);
                  return true;
                });
        csi.unstage(volume.getVolumeId(), staging);
        csi.delete(volume.getVolumeId());
      }
      Files.deleteIfExists(staging);
      scratch.assertNothingLeft();
    }
  }

  /** The device of an interrupted creation is neither used nor deleted while a tool may write. */
  @ParameterizedTest
  @ValueSource(strings = {"e2fsck", "tune2fs"})
  void anInterruptedCreationIsNotResumedWhileItRuns(String tool) throws Exception {
    try (Scratch scratch = new Scratch()) {
      Path staging = scratch.pod("staging");
      Volume source;
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        source = csi.create("pvc-1", 16 * MIB);
        csi.stage(source, staging, mount("ext4"));
        csi.unstage(source.getVolumeId(), staging);
      }
      LongFunction<CreateVolumeRequest.Builder> request = bytes -> cloned("pvc-2", bytes, source);
      Process killed = start(scratch, pathWithSlow(tool));
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        killDuring(killed, () -> csi.create(request.apply(16 * MIB)));
      }
      try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
        Calls csi = new Calls(driver);
        // for another size the device would be deleted, and another volume get its name
        for (long bytes : new long[] {16 * MIB, 32 * MIB}) {
          assertThatCall(() -> csi.create(request.apply(bytes)))
              .fails(Status.Code.ABORTED, tool + " of an interrupted call still runs");
        }

        Files.createFile(directory.resolve("go"));
        Volume volume =
            await()
                .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                .until(() -> csi.create(request.apply(16 * MIB)), _ -> true);
        csi.stage(volume, staging, mount("ext4"));
        csi.unstage(volume.getVolumeId(), staging);
        csi.delete(volume.getVolumeId());
        csi.delete(source.getVolumeId());
      }
      Files.deleteIfExists(staging);
      scratch.assertNothingLeft();
    }
  }

  private void killDuring(Process driver, Runnable call) throws InterruptedException {
    Thread kill =
        Thread.ofVirtual()
            .start(
                () -> {
                  await().until(() -> Files.exists(directory.resolve("started")));
                  driver.destroyForcibly();
                });
    assertThatThrownBy(call::run).isInstanceOf(StatusRuntimeException.class);
    kill.join();
    driver.onExit().join();
  }

  /** Otherwise the tool would outlive a failed test. */
  @AfterEach
  void releaseTool() throws IOException {
    if (!Files.exists(directory.resolve("go"))) {
      Files.createFile(directory.resolve("go"));
    }
  }

  private static Process start(Scratch scratch, String path) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                DriverProcess.class.getName(),
                scratch.directory().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("PATH", path);
    Process process = builder.start();
    assertThat(process.inputReader().lines().anyMatch("ready"::equals)).isTrue();
    return process;
  }
}
