package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.testbed.guest.ExecResult;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory without labels, as newly installed. It requires a boot with new memory, so all tests share
 * one boot, and each test removes what it wrote.
 */
@WithPmemGuest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MemoryWithoutLabelsIT {
  private static final String CONVERT =
      "env KUBECONFIG=/run/kubeconfig "
          + PackagedProgram.CONVERSION
          + " -nodeid=guest -drivername=pmem-csi.intel.com"
          + " -nodeSelector='{\"storage\":\"pmem\"}'";

  private static final String OTHER_UUID = "3f8a2c1e-5d0b-4c57-9a9e-6f1f0f6d2b11";

  private static final String RAW = "raw\nraw";

  private final PmemGuest guest;
  private final ProcessRunner runner = new ProcessRunner();

  MemoryWithoutLabelsIT(PmemGuest guest) {
    this.guest = guest;
    // a new guest has unlabeled memory already
    if (!modes().equals(RAW)) {
      guest.replaceDevices();
    }
  }

  private String modes() {
    return guest.run("ndctl list -N | jq -r '.[].mode'");
  }

  @AfterAll
  void cleanUp() throws IOException {
    GuestDriver.cleanUp(guest);
    for (FilesystemType type : FilesystemType.values()) {
      Files.deleteIfExists(inShare(type));
    }
  }

  private Path inShare(FilesystemType type) {
    return guest.share().resolve("kata-" + type.text());
  }

  /** Creates an image file for a volume of the given size, with one file inside. */
  private void createImage(FilesystemType type, long volumeBytes, Path directory)
      throws IOException {
    Path volume = directory.resolve(type.text());
    Path mountPoint = Files.createDirectory(directory.resolve("mnt-" + type.text()));
    Path inside = Files.createDirectory(directory.resolve("inside-" + type.text()));
    try (RandomAccessFile file = new RandomAccessFile(volume.toFile(), "rw")) {
      file.setLength(volumeBytes);
    }
    LoopDevices loops = new LoopDevices(new KernelLoops());
    Path loop = loops.attach(volume, 0);
    try {
      runner.run(Command.of("mkfs.ext4", "-q", "-F", loop.toString()));
      runner.run(Command.of("mount", loop.toString(), mountPoint.toString()));
      try {
        Path image = new ImageFiles(runner, loops).ensure(mountPoint, type);
        runner.run(
            Command.of("mount", "-o", "loop,offset=2097152", image.toString(), inside.toString()));
        Files.writeString(inside.resolve("file"), "inside " + type.text());
        runner.run(Command.of("umount", inside.toString()));
        runner.run(Command.of("cp", "--sparse=always", image.toString(), inShare(type).toString()));
      } finally {
        runner.run(Command.of("umount", mountPoint.toString()));
      }
    } finally {
      loops.detach(loop);
    }
  }

  /**
   * Uses image files of Kata volumes as memory of a machine, as the Kata runtime does: the kernel
   * must accept superblock and checksum.
   */
  @Order(1)
  @Test
  void theKernelUsesKataImageFilesAsMemoryWithDax(@TempDir Path directory) throws IOException {
    createImage(FilesystemType.EXT4, 64L << 20, directory);
    createImage(FilesystemType.XFS, 512L << 20, directory);

    for (FilesystemType type : FilesystemType.values()) {
      String device = type == FilesystemType.EXT4 ? "0" : "1";
      String out =
          guest.run(
              """
              set -e
              dd if=/host/kata-%s of=/dev/pmem%s bs=2M conv=sparse,fsync 2> /dev/null
              ndctl disable-namespace namespace%s.0 > /dev/null 2>&1
              ndctl enable-namespace namespace%s.0 > /dev/null 2>&1
              ndctl list -n namespace%s.0 | jq -r '.[] | .mode + " " + (.align | tostring)'
              mkdir -p /mnt/kata
              mount -o dax=always /dev/pmem%s /mnt/kata
              cat /mnt/kata/file; echo
              grep ' /mnt/kata ' /proc/mounts | grep -o dax=always
              umount /mnt/kata
              """
                  .formatted(type.text(), device, device, device, device, device));
      assertThat(out.toLowerCase(Locale.ROOT).lines())
          .containsExactly("fsdax 2097152", "inside " + type.text(), "dax=always");
      removeSuperblock(device);
    }
  }

  /** Removes the superblock, so that the namespace is raw again. */
  private void removeSuperblock(String device) {
    guest.run(
        """
        set -e
        n=namespace%s.0; raw=/sys/bus/nd/devices/$n/force_raw
        ndctl disable-namespace $n; echo 1 > $raw; ndctl enable-namespace $n
        dd if=/dev/zero of=/dev/pmem%s bs=4M count=1 conv=fsync
        ndctl disable-namespace $n; echo 0 > $raw; ndctl enable-namespace $n
        """
            .formatted(device, device));
  }

  /** Starts a fake API server that accepts the patch; other tests use a real one. */
  private void startApi() {
    guest.run(
        """
        cat > /run/api <<'EOF'
        #!/bin/bash
        n=0
        while IFS= read -r line; do
          line=${line%%$'\\r'}; [ -n "$line" ] || break
          echo "$line" >> /run/requests
          case ${line,,} in content-length:*) n=${line##* };; esac
        done
        head -c $n >> /run/requests; echo >> /run/requests
        printf 'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n'
        printf 'Connection: close\\r\\n\\r\\n{}'
        EOF
        chmod +x /run/api; rm -f /run/requests
        setsid socat TCP-LISTEN:8001,fork,reuseaddr EXEC:/run/api < /dev/null > /dev/null 2>&1 &
        """
            .replace("%%", "%"));
    guest.run(
        "cat > /run/kubeconfig <<'EOF'\n%sEOF"
            .formatted(PackagedProgram.KUBECONFIG.formatted(8001)));
  }

  @Order(2)
  @Test
  void unlabeledMemoryIsConvertedAndUsedByTheDriver() {
    assertThat(modes()).isEqualTo(RAW);
    PackagedProgram.installConversion(guest);
    startApi();

    GuestProgram program = guest.start("convert", CONVERT);
    await()
        .atMost(Duration.ofMinutes(5))
        // each poll runs a command in the guest and slows down the conversion
        .pollInterval(Duration.ofSeconds(4))
        .until(() -> program.log().contains("the node is labelled") || !program.isRunning());
    assertThat(program.isRunning()).as(program.log()).isTrue();
    program.stop(Duration.ofMinutes(1));

    assertThat(guest.run("cat /run/requests"))
        .contains("PATCH /api/v1/nodes/guest HTTP/1.1")
        .contains("\"pmem-csi.intel.com/convert-raw-namespaces\":null")
        .contains("\"storage\":\"pmem\"");
    assertThat(modes()).isEqualTo("fsdax\nfsdax");
    assertThat(guest.run("vgs --noheadings -o vg_name,pv_count --sort vg_name"))
        .matches("(?s)\\s*ndbus0region0fsdax\\s+1\\s+ndbus0region1fsdax\\s+1\\s*");
    try (GuestDriver driver = GuestDriver.start(guest, "lvm", 100)) {
      assertThat(driver.capacity().getMaximumVolumeSize().getValue())
          .isBetween(1900L << 20, 2048L << 20);
      Volume volume = driver.create("converted", 64L << 20, Map.of("eraseafter", "false"));
      assertThat(driver.hasDax(driver.mount(volume, "ext4"))).isTrue();
      driver.unmount(volume);
      driver.delete(volume);
      assertThat(driver.list()).isEmpty();
      assertThat(guest.run("lvs --noheadings -o lv_name")).isEmpty();
    }
    assertOnlyRawMemoryIsConverted();
  }

  private void assertOnlyRawMemoryIsConverted() {
    guest.run(
        """
        set -e
        vgremove -q -f -y ndbus0region1fsdax; pvremove -q -y /dev/pmem1
        mkfs.ext4 -q -F -U %s /dev/pmem1 16M
        """
            .formatted(OTHER_UUID));

    ExecResult again = guest.exec(CONVERT + " 2>&1", Duration.ofMinutes(3));

    assertThat(again.exitCode()).as(again.stdout()).isEqualTo(1);
    assertThat(again.stdout()).contains("ext4").contains("remove its signatures with wipefs --all");
    assertThat(guest.run("blkid --probe -o value -s UUID /dev/pmem1")).isEqualTo(OTHER_UUID);
  }
}
