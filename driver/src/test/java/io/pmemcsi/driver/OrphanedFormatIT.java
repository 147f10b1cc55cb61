package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An mkfs that outlives a killed driver must not format a volume that is in use. */
class OrphanedFormatIT {
  @TempDir private Path directory;

  /** Runs the real mkfs once the file "go" exists. */
  private String pathWithSlowMkfs() throws IOException {
    Path bin = Files.createDirectory(directory.resolve("bin"));
    Path wrapper = bin.resolve("mkfs.ext4");
    String path = System.getenv("PATH");
    Files.writeString(
        wrapper,
        """
        #!/bin/sh
        touch %1$s/started
        while [ ! -e %1$s/go ]; do sleep 0.1; done
        PATH=%2$s
        exec mkfs.ext4 "$@"
        """
            .formatted(directory, path));
    Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwxr-xr-x"));
    return bin + ":" + path;
  }

  @Test
  void aVolumeIsNotUsedOrDeletedWhileItRuns() throws Exception {
    try (Scratch scratch = new Scratch()) {
      Path staging = scratch.pod("staging");
      Process killed = start(scratch, pathWithSlowMkfs());
      Volume volume;
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        volume = csi.create("pvc-1", 16 * MIB);
        Thread kill =
            Thread.ofVirtual()
                .start(
                    () -> {
                      await().until(() -> Files.exists(directory.resolve("started")));
                      killed.destroyForcibly();
                    });
        assertThatThrownBy(() -> csi.stage(volume, staging, mount("ext4")))
            .isInstanceOf(StatusRuntimeException.class);
        kill.join();
        killed.onExit().join();
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

  /** Otherwise mkfs would outlive a failed test. */
  @AfterEach
  void releaseMkfs() throws IOException {
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
