package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceAttributes;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GroupSetupTest {
  private static final long MIB = 1L << 20;

  private final RecordedTools tools = new RecordedTools();
  private final Set<Path> blank = new HashSet<>();
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
            "vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0",
            "vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1",
            "vgchange --activate=y ndbus0region0fsdax ndbus0region1fsdax");
    assertThat(fresh().recorded()).isEmpty();
  }

  @Test
  void aStartThatWasKilledBeforeItWipedANamespaceIsMadeGood() throws IOException {
    UUID uuid = fresh().record();
    Path namespace = Files.createDirectories(folder.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    String one = withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0);
    tools.answer("ndctl list", withGroupNamespace(one, 1));
    tools.answer("pvs", pvs("pmem1"));

    setup().prepare(50, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes().getFirst()).isEqualTo("wipefs --all --force /dev/pmem0");
    assertThat(tools.changes())
        .doesNotContain("wipefs --all --force /dev/pmem1")
        .contains("vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0");
    assertThat(fresh().recorded()).doesNotContain(uuid);
  }

  @Test
  void aNamespaceThatIsStillBeingMadeForAStartThatWasKilledIsWaitedFor() throws Exception {
    UUID uuid = fresh().record();
    Process tool =
        new ProcessBuilder("sh", "-c", "read line", "sh", Ndctl.uuidOption(uuid)).start();
    try {
      assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
          .isInstanceOf(FatalException.class)
          .hasMessageContaining(uuid.toString());
    } finally {
      tool.getOutputStream().close(); // what it waits for
      tool.waitFor();
    }
    assertThat(tools.changes()).isEmpty();
    assertThat(fresh().recorded()).containsExactly(uuid);
  }

  /** Wiping it again would take a member from a group that may have volumes by now. */
  @ParameterizedTest
  @CsvSource({"pmem0, 0", "pmem1, 1"})
  void aStartThatWasKilledWhenTheNamespaceWasWipedDoesNotWipeItAgain(String member, int changes)
      throws IOException {
    UUID uuid = fresh().record();
    fresh().wiped(uuid);
    Path namespace = Files.createDirectories(folder.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    tools.answer("ndctl list", withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0));
    tools.answer("pvs", pvs(member));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes())
        .noneMatch(change -> change.equals("wipefs --all --force /dev/pmem0"))
        .filteredOn(change -> change.endsWith(" ndbus0region0fsdax /dev/pmem0"))
        .hasSize(changes);
    assertThat(fresh().recorded()).doesNotContain(uuid);
  }

  @Test
  void aGroupThatCannotBeMadeLeavesTheNoteThatTheNamespaceIsNew() {
    String empty = recorded("ndctl/labels-no-namespaces.json");
    tools.answer("ndctl list", empty);
    tools.answer("ndctl list", withGroupNamespace(withGroupNamespace(empty, 0), 1));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));
    tools.fail("vgcreate", "I/O error");

    assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
        .hasMessageContaining("I/O error");

    assertThat(fresh().recorded()).isNotEmpty().allMatch(fresh()::isWiped);
  }

  /** A damaged group looks like this; a new one in its place would be the end of its volumes. */
  @Test
  void whatIsNeitherNewNorBlankNorInAGroupIsNeverPutIntoOne() {
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("expected the volume group ndbus0region1fsdax on /dev/pmem1")
        .hasMessageContaining("ndctl destroy-namespace --force namespace1.0");
    assertThat(tools.changes()).noneMatch(change -> change.startsWith("vg"));
  }

  /** As a start of the original leaves it that was killed before it made the group. */
  @Test
  void aBlankNamespaceOfUnknownOriginIsUsed() {
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));
    blank.add(Path.of("/dev/pmem1"));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes())
        .contains("vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1");
  }

  @Test
  void aNamespaceThatWasNeverFinishedIsRemoved() throws IOException {
    UUID uuid = fresh().record();
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
    fresh().record();
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(0, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes()).isEmpty();
    assertThat(fresh().recorded()).hasSize(1);
  }

  @Test
  void aDisabledRegionMayHideAVolume() {
    tools.answer("ndctl list", recorded("ndctl/region-disabled.json"));
    tools.answer("pvs", recorded("lvm/pvs.json"));
    tools.answer("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("region0");
  }

  /** The groups in use are chosen at the start: one that comes later is not looked into. */
  @Test
  void aRegionThatIsEnabledAfterTheStartMayHideAVolumeUntilTheNextOne() {
    String disabled =
        recorded("ndctl/region-disabled.json")
            .replace("region1", "regionX")
            .replace("region0", "region1")
            .replace("regionX", "region0");
    String enabled = disabled.replace("\"state\":\"disabled\",\n        \"pers", "\"pers");
    assertThat(enabled).isNotEqualTo(disabled);
    tools.answer("ndctl list", disabled).answer("ndctl list", enabled);
    tools.answer("pvs", pvs("pmem0")).answer("pvs", pvs("pmem0", "pmem1"));
    tools.answer("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("region1 (used only after a restart of the driver)");
  }

  @Test
  void aDisabledNamespaceOfAGroupMayHideAVolume() {
    tools.answer(
        "ndctl list",
        recorded("ndctl/fragmented.json")
            .replace("\"blockdev\":\"pmem1\"", "\"state\":\"disabled\""));
    tools.answer("pvs", recorded("lvm/pvs-none.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("namespace1.0 (disabled)");
  }

  @Test
  void whereAllGroupsAreInUseNothingIsHidden() {
    tools.answer("ndctl list", recorded("ndctl/fragmented.json"));
    tools.answer("pvs", recorded("lvm/pvs.json"));
    tools.answer("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools()).isEmpty();
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
    return new GroupSetup(ndctl, tools, fresh(), blank::contains);
  }

  /** The devices' answer when each is in the group of its region, which has the same number. */
  static String pvs(String... devices) {
    return Stream.of(devices)
        .map(
            device ->
                "{\"pv_name\":\"/dev/%s\",\"vg_name\":\"ndbus0region%sfsdax\"}"
                    .formatted(device, device.substring(4)))
        .collect(Collectors.joining(",", "{\"report\":[{\"pv\":[", "]}]}"));
  }

  private PendingNamespaces fresh() {
    return new PendingNamespaces(folder, new DurableFiles());
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
