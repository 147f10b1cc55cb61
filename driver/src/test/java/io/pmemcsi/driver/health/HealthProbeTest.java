package io.pmemcsi.driver.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Observation of attributes in a directory that is laid out as sysfs. */
class HealthProbeTest {
  private static final DeviceNumber LOGICAL_VOLUME = new DeviceNumber(253, 0);
  private static final DeviceNumber PMEM = new DeviceNumber(259, 1);

  @TempDir Path sysfs;
  private final RecordedTools tools = new RecordedTools();
  private Path pmem;

  @BeforeEach
  void onePmemDevice() throws IOException {
    pmem = disk("ndbus0/region0/pfn0.0/block/pmem0", PMEM);
    Files.writeString(pmem.resolve("badblocks"), "\n");
  }

  @Test
  void aDeviceWithoutBadBlocksIsHealthyAndNoCommandRuns() throws IOException {
    logicalVolume(pmem);

    assertThat(problems(PMEM)).isEmpty();
    assertThat(problems(LOGICAL_VOLUME)).isEmpty();
    assertThat(tools.commands()).isEmpty();
  }

  @Test
  void badBlocksOfANamespaceAreThoseOfItsVolume() throws IOException {
    Files.writeString(pmem.resolve("badblocks"), "8 8\n");

    assertThat(probe(PMEM).badBlocks()).containsExactly(new SectorRange(8, 8));
    assertThat(problems(PMEM)).extracting(Problem::kind).containsExactly(Problem.Kind.BAD_BLOCKS);
  }

  @Test
  void badBlocksBelowALogicalVolumeAreLocatedInItsSegments() throws IOException {
    Files.writeString(pmem.resolve("badblocks"), "4096 8\n100000 8\n");
    logicalVolume(pmem);
    tools.respond(
        "dmsetup table --major=253 --minor=0",
        "0 8192 linear 259:1 8192\n8192 8192 linear 259:1 98304\n");

    assertThat(probe(LOGICAL_VOLUME).badBlocks())
        .as("the first is in another logical volume")
        .containsExactly(new SectorRange(8192 + 100000 - 98304, 8));
  }

  @Test
  void aDeviceThatTheKernelDoesNotHaveHasVanished() {
    assertThat(probe(new DeviceNumber(259, 7)).vanished()).containsExactly("/dev/volume");
  }

  @Test
  void theMemoryBelowALogicalVolumeCanVanish() throws IOException {
    logicalVolume(sysfs.resolve("devices/ndbus0/region0/pfn0.0/block/pmem1"));

    assertThat(probe(LOGICAL_VOLUME).vanished()).containsExactly("/dev/pmem1");
  }

  /** dmsetup remove --force leaves a device that fails all reads and writes. */
  @Test
  void aLogicalVolumeOnNothingHasVanished() throws IOException {
    Files.createDirectories(logicalVolume(pmem).resolve("slaves"));
    Files.delete(sysfs.resolve("dev/block/253:0/slaves/pmem0"));

    assertThat(probe(LOGICAL_VOLUME).vanished()).containsExactly("the memory below /dev/volume");
  }

  @Test
  void aNamespaceWithAtomicSectorsHasTheBadBlocksOfItsPartOfTheRegion() throws IOException {
    DeviceNumber number = new DeviceNumber(259, 2);
    Path disk = disk("ndbus0/region0/btt0.1/block/pmem0.1s", number);
    Path region = sysfs.resolve("devices/ndbus0/region0");
    Files.createSymbolicLink(disk.resolve("device"), region.resolve("btt0.1"));
    Files.writeString(region.resolve("btt0.1/namespace"), "namespace0.1\n");
    Files.createDirectories(region.resolve("namespace0.1"));
    Files.writeString(region.resolve("resource"), "0x100000000\n");
    Files.writeString(region.resolve("namespace0.1/resource"), "0x104000000\n");
    Files.writeString(region.resolve("namespace0.1/size"), "67108864\n");
    Files.writeString(region.resolve("badblocks"), "8 8\n131080 1\n");

    assertThat(probe(number).badBlocks()).containsExactly(new SectorRange(8, 1));
  }

  private Observation probe(DeviceNumber number) {
    return new HealthProbe(tools, sysfs).observe(Path.of("/dev/volume"), number, List.of());
  }

  private List<Problem> problems(DeviceNumber number) {
    return probe(number).problems();
  }

  private Path disk(String path, DeviceNumber number) throws IOException {
    Path disk = Files.createDirectories(sysfs.resolve("devices").resolve(path));
    Files.writeString(disk.resolve("dev"), number + "\n");
    Files.createDirectories(sysfs.resolve("dev/block"));
    Files.createSymbolicLink(sysfs.resolve("dev/block").resolve(number.toString()), disk);
    return disk;
  }

  private Path logicalVolume(Path below) throws IOException {
    Path disk = disk("virtual/block/dm-0", LOGICAL_VOLUME);
    Files.createDirectories(disk.resolve("dm"));
    Files.createDirectories(disk.resolve("slaves"));
    Files.createSymbolicLink(disk.resolve("slaves").resolve(below.getFileName()), below);
    return disk;
  }
}
