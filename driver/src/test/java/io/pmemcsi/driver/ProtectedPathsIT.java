package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.grpc.Status.Code;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Paths in requests that would harm the driver itself. */
class ProtectedPathsIT extends SharedDriver {

  @ParameterizedTest
  @CsvSource({
    "STATE, state directory",
    "STATE/contents, state directory",
    "STATE/lock, state directory",
    "STATE/mount/pvc, state directory",
    "PARENT, would hide",
    "/, would hide / from the driver",
    "/proc, would hide /proc from the driver",
    "/proc/1, filesystem of the kernel",
    "/proc/sys/kernel, filesystem of the kernel",
    "/sys, would hide /sys from the driver",
    "/sys/fs, filesystem of the kernel",
    "/dev, would hide /dev from the driver",
    "/dev/volume, filesystem of the kernel",
    "/usr, would hide",
    "PROGRAM, would hide"
  })
  void nothingIsMountedUnmountedOrRemovedThere(String path, String why) {
    Path harmful =
        Path.of(
            path.replace("STATE", scratch.state().toString())
                .replace("PARENT", scratch.directory().toString())
                .replace("PROGRAM", program().toString()));
    String reason = path.equals("/") ? "would hide" : why;
    Volume volume = csi.create("pvc", 16 * MIB);
    csi.stage(volume, staging(), mount("ext4"));
    int mounts = MountTable.read().entries().size();

    assertThatCall(() -> csi.stage(volume, harmful, mount("ext4")))
        .fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(() -> csi.stage(volume, harmful, block())).fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(() -> csi.publish(volume, staging(), harmful, mount("ext4")))
        .fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(() -> csi.publish(volume, staging(), harmful, block()))
        .fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral("csi-1", harmful, mount("ext4"), Map.of("size", "16Mi"))))
        .fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(() -> csi.unstage(volume.getVolumeId(), harmful))
        .fails(Code.INVALID_ARGUMENT, reason);
    assertThatCall(() -> csi.unpublish(UNKNOWN, harmful)).fails(Code.INVALID_ARGUMENT, reason);

    assertThat(MountTable.read().entries()).hasSize(mounts);
    assertThat(Files.exists(scratch.state().resolve("lock"))).isTrue();
    csi.unstage(volume.getVolumeId(), staging());
  }

  /** The directory of one of the jars that the driver runs from. */
  private static Path program() {
    return Stream.of(System.getProperty("java.class.path", "").split(File.pathSeparator, -1))
        .filter(entry -> entry.endsWith(".jar"))
        .map(jar -> Path.of(jar).resolveSibling(""))
        .findFirst()
        .orElseThrow();
  }
}
