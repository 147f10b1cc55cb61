package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceAttributes;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.volume.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GroupSetupTest {
  private static final long MIB = 1L << 20;

  private final RecordedTools tools = new RecordedTools();
  @TempDir Path folder;

  @ParameterizedTest(name = "{0} % with {1} MiB there and a gap of {2} MiB: {3} MiB")
  @CsvSource({
    "100, 0, 2048, 2048",
    "50, 0, 2048, 1024",
    "50, 1024, 1024, 0",
    "51, 1024, 1024, 16",
    "100, 1024, 1024, 1024",
    "100, 1024, 512, 512",
    "40, 1024, 1024, 0",
    "0, 0, 2048, 0",
    "1, 0, 2048, 16",
    "33, 0, 2048, 672",
    "100, 0, 0, 0",
  })
  void aNamespaceMakesUpForWhatIsMissing(
      int percentage, long thereMiB, long gapMiB, long expectedMiB) {
    Region region = region(thereMiB * MIB, gapMiB * MIB);

    assertThat(GroupSetup.missingBytes(region, percentage)).isEqualTo(expectedMiB * MIB);
  }

  @Test
  void emptyRegionsGetANamespaceAndAGroupEach() {
    String empty = recorded("ndctl/labels-no-namespaces.json");
    String one = withGroupNamespace(empty, 0);
    tools.answer("ndctl list", empty);
    tools.answer("ndctl list", one);
    tools.answer("ndctl list", withGroupNamespace(one, 1));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(50, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes())
        .map(change -> change.replaceAll(" --uuid=[-0-9a-f]{36}", " with a UUID"))
        .containsExactly(
            "ndctl create-namespace --bus=ndbus0 --region=region0 --mode=fsdax --size=1073741824"
                + " --name=pmem-csi --map=dev --align=2097152 with a UUID",
            "wipefs --all --force /dev/pmem0",
            "ndctl create-namespace --bus=ndbus0 --region=region1 --mode=fsdax --size=1073741824"
                + " --name=pmem-csi --map=dev --align=2097152 with a UUID",
            "wipefs --all --force /dev/pmem1",
            "vgcreate --yes --force --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0",
            "vgcreate --yes --force --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1",
            "vgchange --activate=y ndbus0region0fsdax ndbus0region1fsdax");
    assertThat(fresh().notWiped()).isEmpty();
  }

  @Test
  void aStartThatWasKilledBeforeItWipedANamespaceIsMadeGood() throws IOException {
    UUID uuid = fresh().announce();
    Path namespace = Files.createDirectories(folder.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    String one = withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0);
    tools.answer("ndctl list", withGroupNamespace(one, 1));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(50, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes().getFirst()).isEqualTo("wipefs --all --force /dev/pmem0");
    assertThat(tools.changes()).doesNotContain("wipefs --all --force /dev/pmem1");
    assertThat(fresh().notWiped()).isEmpty();
  }

  @Test
  void aNamespaceThatWasNeverFinishedIsRemoved() throws IOException {
    UUID uuid = fresh().announce();
    Path namespace = Files.createDirectories(folder.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    Files.writeString(namespace.resolve("alt_name"), "pmem-csi\n");
    Files.writeString(namespace.resolve("size"), "1073741824\n");
    String half =
        withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0)
            .replaceFirst(
                "\"mode\":\"fsdax\",\"size\":\\d+", "\"mode\":\"raw\",\"size\":1073741824");
    tools.answer("ndctl list", half);
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes().getFirst())
        .isEqualTo("ndctl destroy-namespace --force namespace0.0");
  }

  @Test
  void anAuditWipesNothing() {
    fresh().announce();
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(0, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes()).isEmpty();
    assertThat(fresh().notWiped()).hasSize(1);
  }

  @Test
  void aDisabledRegionMayHideAVolume() {
    tools.answer("ndctl list", recorded("ndctl/region-disabled.json"));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).hidden()).containsExactly("region0");
  }

  @Test
  void lookingChangesNothing() {
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs.json"));
    tools.answer("lvm fullreport", recorded("lvm/fullreport.json"));

    Capacity capacity = setup().prepare(0, new Eraser((_, _, _) -> {})).capacity();

    assertThat(tools.changes()).isEmpty();
    assertThat(capacity.total()).isEqualTo(4L << 30);
  }

  @Test
  void noMemoryIsNoFailure() {
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    LvmDevices devices = setup().prepare(100, new Eraser((_, _, _) -> {}));

    assertThat(devices.capacity()).isEqualTo(Capacity.NONE);
    assertThat(devices.list()).isEmpty();
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aNamespaceThatCannotBeMadeIsToldWithTheToolSWords() {
    tools.answer("ndctl list", recorded("ndctl/labels-no-namespaces.json"));
    tools.fail("ndctl create-namespace", "failed to create namespace: Read-only file system");

    assertThatThrownBy(() -> setup().prepare(100, new Eraser((_, _, _) -> {})))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("Read-only file system");
  }

  private GroupSetup setup() {
    Ndctl ndctl = new Ndctl(tools, new NamespaceAttributes(folder.resolve("sys")));
    return new GroupSetup(ndctl, tools, fresh());
  }

  private FreshNamespaces fresh() {
    return new FreshNamespaces(folder, new DurableFiles());
  }

  private static String withGroupNamespace(String json, int region) {
    String seed =
        "\"dev\":\"namespace%d.0\",\\s*\"mode\":\"raw\",\\s*\"size\":0,[^}]*".formatted(region);
    return json.replaceAll(
        seed,
        "\"dev\":\"namespace%d.0\",\"mode\":\"fsdax\",\"size\":1054867456,\"name\":\"pmem-csi\",\"blockdev\":\"pmem%d\""
            .formatted(region, region));
  }

  private static Region region(long ours, long gap) {
    Namespace there =
        new Namespace(
            "namespace0.0",
            "",
            Ndctl.GROUP_NAMESPACE,
            NamespaceMode.FSDAX,
            ours,
            NamespaceMode.FSDAX.usableBytes(ours),
            Optional.empty());
    return new Region(
        "ndbus0", "region0", 2048 * MIB, gap, gap, 16 * MIB, true, true, false, List.of(there));
  }
}
