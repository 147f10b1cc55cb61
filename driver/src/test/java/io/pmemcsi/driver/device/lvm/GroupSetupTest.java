package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.OrphanedCommands;
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
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GroupSetupTest {
  private static final long MIB = 1L << 20;

  private final RecordedTools tools = new RecordedTools();
  private final Set<Path> blank = new HashSet<>();
  @TempDir Path directory;
  @TempDir Path processes;

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
  void aNamespaceProvidesTheMissingPercentage(
      int percentage, long thereMiB, long gapMiB, long expectedMiB) {
    Region region = region(thereMiB * MIB, gapMiB * MIB);

    assertThat(GroupSetup.missingBytes(region, percentage)).isEqualTo(expectedMiB * MIB);
  }

  @Test
  void emptyRegionsGetANamespaceAndAGroupEach() {
    String empty = recorded("ndctl/labels-no-namespaces.json");
    String one = withGroupNamespace(empty, 0);
    tools.respond("ndctl list", empty);
    tools.respond("ndctl list", one);
    tools.respond("ndctl list", withGroupNamespace(one, 1));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

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
  void aNamespaceThatAKilledStartDidNotWipeIsWiped() throws IOException {
    UUID uuid = fresh().record();
    Path namespace = Files.createDirectories(directory.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    String one = withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0);
    tools.respond("ndctl list", withGroupNamespace(one, 1));
    tools.respond("pvs", pvs("pmem1"));

    setup().prepare(50, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes().getFirst()).isEqualTo("wipefs --all --force /dev/pmem0");
    assertThat(tools.changes())
        .doesNotContain("wipefs --all --force /dev/pmem1")
        .contains("vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0");
    assertThat(fresh().recorded()).doesNotContain(uuid);
  }

  @Test
  void theStartWaitsForTheOrphanedCreationOfANamespace() throws Exception {
    UUID uuid = fresh().record();
    Process tool =
        new ProcessBuilder("sh", "-c", "read line", "sh", Ndctl.uuidOption(uuid)).start();
    try {
      assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
          .isInstanceOf(FatalException.class)
          .hasMessageContaining(uuid.toString());
    } finally {
      tool.getOutputStream().close(); // the tool waits for the end of its input
      tool.waitFor();
    }
    assertThat(tools.changes()).isEmpty();
    assertThat(fresh().recorded()).containsExactly(uuid);
  }

  /** It would remove the group, and the volumes with it, after the group was created. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "wipefs\0--all\0--force\0/dev/pmem0\0",
        "ndctl\0create-namespace\0--force\0--mode=fsdax\0--reconfig=namespace0.0\0"
      })
  void theStartWaitsForAnOrphanedCommandThatChangesANamespace(String command) throws IOException {
    tools.respond("ndctl list", withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));
    blank.add(Path.of("/dev/pmem0"));
    Path orphan = Files.createDirectory(processes.resolve("17"));
    Files.writeString(orphan.resolve("cmdline"), command);

    assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("a command of a killed start")
        .hasMessageContaining("try again when it has ended");
    assertThat(tools.changes()).isEmpty();

    Files.delete(orphan.resolve("cmdline"));
    setup().prepare(50, new Eraser((_, _, _) -> {}));
    assertThat(tools.changes())
        .contains("vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0");
  }

  /** Wiping it again would destroy a physical volume of a group that may have volumes. */
  @ParameterizedTest
  @CsvSource({"pmem0, 0", "pmem1, 1"})
  void aNamespaceThatAKilledStartWipedIsNotWipedAgain(String member, int changes)
      throws IOException {
    UUID uuid = fresh().record();
    fresh().wiped(uuid);
    Path namespace = Files.createDirectories(directory.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    tools.respond("ndctl list", withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0));
    tools.respond("pvs", pvs(member));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes())
        .noneMatch(change -> change.equals("wipefs --all --force /dev/pmem0"))
        .filteredOn(change -> change.endsWith(" ndbus0region0fsdax /dev/pmem0"))
        .hasSize(changes);
    assertThat(fresh().recorded()).doesNotContain(uuid);
  }

  @Test
  void aFailedGroupCreationKeepsThePendingNamespaceRecord() {
    String empty = recorded("ndctl/labels-no-namespaces.json");
    tools.respond("ndctl list", empty);
    tools.respond("ndctl list", withGroupNamespace(withGroupNamespace(empty, 0), 1));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));
    tools.fail("vgcreate", "I/O error");

    assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
        .hasMessageContaining("I/O error");

    assertThat(fresh().recorded()).isNotEmpty().allMatch(fresh()::isWiped);
  }

  /** A damaged group looks like this; a new group would destroy its volumes. */
  @Test
  void aNamespaceWithDataIsNeverAddedToAGroup() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

    assertThatThrownBy(() -> setup().prepare(50, new Eraser((_, _, _) -> {})))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("expected the volume group ndbus0region1fsdax on /dev/pmem1")
        .hasMessageContaining("ndctl destroy-namespace --force namespace1.0");
    assertThat(tools.changes()).noneMatch(change -> change.startsWith("vg"));
  }

  /** The original driver leaves it if it was killed before it created the group. */
  @Test
  void aBlankNamespaceOfUnknownOriginIsUsed() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));
    blank.add(Path.of("/dev/pmem1"));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes())
        .contains("vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1");
  }

  @Test
  void anIncompleteNamespaceIsRemoved() throws IOException {
    UUID uuid = fresh().record();
    Path namespace = Files.createDirectories(directory.resolve("sys/namespace0.0"));
    Files.writeString(namespace.resolve("uuid"), uuid + "\n");
    Files.writeString(namespace.resolve("alt_name"), "pmem-csi\n");
    Files.writeString(namespace.resolve("size"), "1073741824\n");
    String half =
        withGroupNamespace(recorded("ndctl/labels-no-namespaces.json"), 0)
            .replaceFirst(
                "\"mode\":\"fsdax\",\"size\":\\d+", "\"mode\":\"raw\",\"size\":1073741824");
    tools.respond("ndctl list", half);
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(1, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes().getFirst())
        .isEqualTo("ndctl destroy-namespace --force namespace0.0");
  }

  @Test
  void anAuditWipesNothing() {
    fresh().record();
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

    setup().prepare(0, new Eraser((_, _, _) -> {}));

    assertThat(tools.changes()).isEmpty();
    assertThat(fresh().recorded()).hasSize(1);
  }

  @Test
  void aDisabledRegionMayHideAVolume() {
    tools.respond("ndctl list", recorded("ndctl/region-disabled.json"));
    tools.respond("pvs", recorded("lvm/pvs.json"));
    tools.respond("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("region0");
  }

  /** The driver selects its groups at the start and does not read groups that appear later. */
  @Test
  void aRegionThatIsEnabledAfterTheStartMayHideAVolumeUntilTheNextStart() {
    String disabled =
        recorded("ndctl/region-disabled.json")
            .replace("region1", "regionX")
            .replace("region0", "region1")
            .replace("regionX", "region0");
    String enabled = disabled.replace("\"state\":\"disabled\",\n        \"pers", "\"pers");
    assertThat(enabled).isNotEqualTo(disabled);
    tools.respond("ndctl list", disabled).respond("ndctl list", enabled);
    tools.respond("pvs", pvs("pmem0")).respond("pvs", pvs("pmem0", "pmem1"));
    tools.respond("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("region1 (enabled after the start, not in use yet)");
  }

  @Test
  void aDisabledNamespaceOfAGroupMayHideAVolume() {
    tools.respond(
        "ndctl list",
        recorded("ndctl/fragmented.json")
            .replace("\"blockdev\":\"pmem1\"", "\"state\":\"disabled\""));
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools())
        .containsExactly("namespace1.0 (disabled)");
  }

  @Test
  void noPoolIsUnavailableIfAllGroupsAreInUse() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", recorded("lvm/pvs.json"));
    tools.respond("lvm fullreport", recorded("lvm/fullreport.json"));

    assertThat(setup().prepare(0, new Eraser((_, _, _) -> {})).unavailablePools()).isEmpty();
  }

  @Test
  void readingTheStateChangesNothing() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", recorded("lvm/pvs.json"));
    tools.respond("lvm fullreport", recorded("lvm/fullreport.json"));

    Capacity capacity = setup().prepare(0, new Eraser((_, _, _) -> {})).capacity();

    assertThat(tools.changes()).isEmpty();
    assertThat(capacity.total()).isEqualTo(4L << 30);
  }

  @Test
  void aNodeWithoutMemoryIsNotAFailure() {
    tools.respond("pvs", recorded("lvm/pvs-none.json"));

    LvmDevices devices = setup().prepare(100, new Eraser((_, _, _) -> {}));

    assertThat(devices.capacity()).isEqualTo(Capacity.NONE);
    assertThat(devices.list()).isEmpty();
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void memoryThatAppearsLaterIsTakenIntoUse() {
    tools.respond("pvs", recorded("lvm/pvs-none.json"));
    LvmDevices devices = setup().prepare(50, new Eraser((_, _, _) -> {}));
    String empty = recorded("ndctl/labels-no-namespaces.json");
    String one = withGroupNamespace(empty, 0);
    tools.respond("ndctl list", empty);
    tools.respond("ndctl list", empty);
    tools.respond("ndctl list", one);
    tools.respond("ndctl list", withGroupNamespace(one, 1));

    devices.takeNewMemory();

    assertThat(tools.changes())
        .contains(
            "vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0",
            "vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1");
    assertThat(devices.capacity().total()).isEqualTo(4L << 30);
  }

  @ParameterizedTest
  @CsvSource({"50, false", "100, true", "0, false"})
  void memoryIsNewUntilItIsInAGroup(int percentage, boolean isNew) {
    List<Region> regions = List.of(region(1024 * MIB, 1024 * MIB));

    assertThat(GroupSetup.hasNewMemory(regions, List.of("ndbus0region0fsdax"), percentage))
        .isEqualTo(isNew);
  }

  @Test
  void aFailedNamespaceCreationIsReportedWithTheMessageOfTheTool() {
    tools.respond("ndctl list", recorded("ndctl/labels-no-namespaces.json"));
    tools.fail("ndctl create-namespace", "failed to create namespace: Read-only file system");

    assertThatThrownBy(() -> setup().prepare(100, new Eraser((_, _, _) -> {})))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("Read-only file system");
  }

  private GroupSetup setup() {
    Ndctl ndctl =
        new Ndctl(
            tools,
            new NamespaceAttributes(directory.resolve("sys")),
            new OrphanedCommands(processes),
            () -> {});
    return new GroupSetup(
        ndctl, tools, new DriverName("pmem-csi.intel.com"), fresh(), blank::contains);
  }

  /** The output of pvs if each device is in the group of the region with the same number. */
  static String pvs(String... devices) {
    return Stream.of(devices)
        .map(
            device ->
                "{\"pv_name\":\"/dev/%s\",\"vg_name\":\"ndbus0region%sfsdax\"}"
                    .formatted(device, device.substring(4)))
        .collect(Collectors.joining(",", "{\"report\":[{\"pv\":[", "]}]}"));
  }

  private PendingNamespaces fresh() {
    return new PendingNamespaces(directory, new DurableFiles());
  }

  private static String withGroupNamespace(String json, int region) {
    String seed =
        "\"dev\":\"namespace%d.0\",\\s*\"mode\":\"raw\",\\s*\"size\":0,[^}]*".formatted(region);
    return json.replaceAll(
        seed,
        "\"dev\":\"namespace%d.0\",\"mode\":\"fsdax\",\"size\":1054867456,\"name\":\"pmem-csi\",\"blockdev\":\"pmem%d\""
            .formatted(region, region));
  }

  private static Region region(long ownedBytes, long gap) {
    Namespace there =
        new Namespace(
            "namespace0.0",
            "",
            Ndctl.GROUP_NAMESPACE,
            NamespaceMode.FSDAX,
            ownedBytes,
            NamespaceMode.FSDAX.usableBytes(ownedBytes),
            Optional.empty());
    return new Region(
        "ndbus0",
        "region0",
        2048 * MIB,
        gap,
        gap,
        List.of(gap),
        16 * MIB,
        true,
        true,
        false,
        OptionalInt.empty(),
        List.of(there));
  }
}
