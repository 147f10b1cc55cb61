package io.pmemcsi.driver.device.ndctl;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NdctlListTest {
  private static final long MIB = 1L << 20;

  @TempDir private Path sysfs;

  @Test
  void nothingPrintedMeansNoRegion() throws Exception {
    assertThat(regions("")).isEmpty();
    assertThat(regions("\n")).isEmpty();
  }

  @Test
  void regionsComeInTheOrderOfTheirNumbersWithTheirNamespaces() throws Exception {
    attribute("namespace0.2", "size", "134217728");

    List<Region> regions = regions(recorded("ndctl/fragmented.json"));

    assertThat(regions).extracting(Region::device).containsExactly("region0", "region1");
    Region first = regions.getFirst();
    assertThat(first.bus()).isEqualTo("ndbus0");
    assertThat(first.sizeBytes()).isEqualTo(2147483648L);
    assertThat(first.unitBytes()).isEqualTo(16L << 20);
    assertThat(first.availableBytes()).isEqualTo(1476395008);
    assertThat(first.maxExtentBytes()).isEqualTo(1207959552);
    assertThat(first.isUsable()).isTrue();
    assertThat(first.namespaces().getFirst())
        .isEqualTo(
            new Namespace(
                "namespace0.2",
                "",
                "ddd-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5",
                NamespaceMode.SECTOR,
                134217728,
                133005312,
                Optional.of(Path.of("/dev/pmem0.2s"))));
    assertThat(first.namespaces().get(1).isReal()).as("the kernel's seed").isFalse();
  }

  /** Four volumes, each with its own metadata; three of the largest size would not fit. */
  @Test
  void eachVolumeFillsAGap() throws Exception {
    String json =
        """
        [{"dev":"ndbus0","regions":[{"dev":"region0","size":2147483648,"align":16777216,
        "available_size":1476395008,"max_available_extent":671088640,"type":"pmem","namespaces":[
        {"dev":"namespace0.1","mode":"fsdax","size":262144000,"blockdev":"pmem0.1"},
        {"dev":"namespace0.0","mode":"fsdax","size":262144000,"blockdev":"pmem0"},
        {"dev":"namespace0.3","mode":"fsdax","size":130023424,"blockdev":"pmem0.3"},
        {"dev":"namespace0.2","mode":"raw","size":0,"state":"disabled"}]}]}]
        """;
    attribute("region0", "resource", "0x100000000");
    namespace("namespace0.0", 0x100000000L + 640 * MIB, 256 * MIB);
    namespace("namespace0.1", 0x100000000L + 1152 * MIB, 256 * MIB);
    attribute("namespace0.3", "size", Long.toString(128 * MIB));
    assertThat(regions(json).getFirst().gaps()).as("one address is unknown").isEmpty();
    namespace("namespace0.3", 0x100000000L + 1664 * MIB, 128 * MIB);

    Region region = regions(json).getFirst();

    assertThat(region.gaps()).containsExactly(640 * MIB, 256 * MIB, 256 * MIB, 256 * MIB);
    assertThat(region.usableInGaps(NamespaceMode.FSDAX))
        .isEqualTo(
            NamespaceMode.FSDAX.usableBytes(640 * MIB)
                + 3 * NamespaceMode.FSDAX.usableBytes(256 * MIB));
  }

  @Test
  void memoryWithoutLabelsIsOneRawNamespaceAndNothingIsFree() throws Exception {
    Region region = regions(recorded("ndctl/no-labels.json")).getFirst();

    assertThat(region.usableInGaps(NamespaceMode.FSDAX)).isZero();
    assertThat(region.namespaces()).extracting(Namespace::mode).containsExactly(NamespaceMode.RAW);
  }

  @Test
  void aDisabledOrReadOnlyRegionIsNotUsed() throws Exception {
    attribute("region1", "read_only", "1");

    List<Region> regions = regions(recorded("ndctl/region-disabled.json"));

    assertThat(regions).extracting(Region::enabled).containsExactly(false, true);
    assertThat(regions).extracting(Region::isUsable).containsExactly(false, false);
  }

  @Test
  void oneBusMayBeAnObjectAndNumbersMayBeLargerThanADoubleCanHold() throws Exception {
    String json =
        """
        {"dev":"ndbus0","regions":[{"dev":"region0","size":9007199254740993,"align":16777216,
        "available_size":9007199254740993,"type":"pmem","iset_id":17253150438520176640}]}
        """;

    assertThat(regions(json))
        .singleElement()
        .returns(9007199254740993L, Region::sizeBytes)
        .returns(9007199254740993L, Region::maxExtentBytes);
  }

  @Test
  void sizesSuitTheInterleavedModulesAndTheRegion() {
    assertThat(Region.unit(1, 16L << 20)).isEqualTo(16L << 20);
    assertThat(Region.unit(6, 96L << 20)).isEqualTo(96L << 20);
    assertThat(Region.unit(6, 16L << 20)).isEqualTo(48L << 20);
    assertThat(Region.unit(4, 1)).isEqualTo(96L << 20);
    assertThat(Region.unit(0, 2L << 20)).isEqualTo(2L << 20);
  }

  private List<Region> regions(String json) throws IOException {
    return new NdctlList(new NamespaceAttributes(sysfs)).regions(json);
  }

  private void namespace(String device, long address, long bytes) throws IOException {
    attribute(device, "resource", "0x" + Long.toHexString(address));
    attribute(device, "size", Long.toString(bytes));
  }

  private void attribute(String device, String name, String value) throws IOException {
    Files.createDirectories(sysfs.resolve(device));
    Files.writeString(sysfs.resolve(device).resolve(name), value + "\n");
  }
}
