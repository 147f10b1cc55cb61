package io.pmemcsi.driver.device.direct;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.device.ndctl.NamespaceAttributes;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectDevicesTest {
  private static final String HASH = "-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5";
  private static final VolumeId AAA = new VolumeId("aaa" + HASH);
  private static final VolumeId NEW = new VolumeId("new" + HASH);

  private static final DriverName DRIVER = new DriverName("pmem-csi.intel.com");

  private final RecordedTools tools = new RecordedTools();
  private final DirectDevices devices =
      new DirectDevices(new Ndctl(tools), DRIVER, new Eraser((_, _, _) -> {}));

  private static String withoutUuid(String command) {
    return command.replaceFirst(" --uuid=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "");
  }

  @Test
  void namespacesOfAnotherDriverAreNotOwned(@TempDir Path sysfs) throws IOException {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    DirectDevices here =
        new DirectDevices(
            new Ndctl(tools, new NamespaceAttributes(sysfs), OrphanedCommands.HERE, () -> {}),
            DRIVER,
            new Eraser((_, _, _) -> {}));
    Path uuid = Files.createDirectory(sysfs.resolve("namespace0.0")).resolve("uuid");
    UUID own = new OwnerUuid(DRIVER).create();

    Files.writeString(uuid, UUID.randomUUID() + "\n");
    here.list();
    assertThat(here.isOwn(AAA)).as("of an earlier release").isTrue();
    Files.writeString(uuid, own + "\n");
    here.list();
    assertThat(here.isOwn(AAA)).as("of this driver").isTrue();
    Files.writeString(uuid, new OwnerUuid(new DriverName("second")).create() + "\n");
    here.list();
    assertThat(here.isOwn(AAA)).as("of another driver").isFalse();
    assertThat(own.version()).isEqualTo(8);
    assertThat(own).isNotEqualTo(new OwnerUuid(DRIVER).create());
  }

  /** The kernel gives the device name of a removed namespace to the next one. */
  @Test
  void nothingIsCreatedWhileARemovalOfAnInterruptedCallRuns(@TempDir Path processes)
      throws IOException {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    DirectDevices here =
        new DirectDevices(
            new Ndctl(tools, NamespaceAttributes.SYSFS, new OrphanedCommands(processes), () -> {}),
            DRIVER,
            new Eraser((_, _, _) -> {}));
    Path orphan = Files.createDirectory(processes.resolve("17"));
    Files.writeString(
        orphan.resolve("cmdline"), "ndctl\0destroy-namespace\0--force\0namespace0.0\0");

    assertThatThrownBy(() -> here.create(NEW, 1, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("destroy-namespace of an interrupted call still runs");
    assertThat(tools.changes()).isEmpty();
  }

  /** The first region may have appeared after the start, when a read-only /sys was accepted. */
  @Test
  void aNamespaceIsCreatedOnlyThroughAWritableSys() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    DirectDevices here =
        new DirectDevices(
            new Ndctl(
                tools,
                NamespaceAttributes.SYSFS,
                OrphanedCommands.HERE,
                () -> {
                  throw new FatalException("/sys is mounted read-only");
                }),
            DRIVER,
            new Eraser((_, _, _) -> {}));

    assertThatThrownBy(() -> here.create(NEW, 1, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("/sys is mounted read-only");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void volumesAreCreatedOnTheRequestedNumaNode(@TempDir Path sysfs) throws IOException {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    for (int region = 0; region < 2; region++) {
      Path directory = Files.createDirectory(sysfs.resolve("region" + region));
      Files.writeString(directory.resolve("numa_node"), region + "\n");
    }
    DirectDevices here =
        new DirectDevices(
            new Ndctl(tools, new NamespaceAttributes(sysfs), OrphanedCommands.HERE, () -> {}),
            DRIVER,
            new Eraser((_, _, _) -> {}));

    assertThat(here.pools())
        .extracting(Pool::region, Pool::numaNode)
        .containsExactlyInAnyOrder(
            tuple("region0", OptionalInt.of(0)), tuple("region1", OptionalInt.of(1)));
    assertThat(here.numaNode(AAA)).hasValue(0);
    assertThatThrownBy(() -> here.create(NEW, 1, AccessModel.APP_DIRECT, OptionalInt.of(1)))
        .as("the recorded list does not show the new volume")
        .isInstanceOf(DeviceException.NotFound.class);
    assertThat(tools.changes()).singleElement().asString().contains("--region=region1");
    assertThatThrownBy(() -> here.create(NEW, 1, AccessModel.APP_DIRECT, OptionalInt.of(2)))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining("1 bytes on NUMA node 2")
        .hasMessageEndingWith("the memory of this node is on the NUMA nodes [0, 1]");
  }

  @Test
  void aNodeWithoutMemoryHasNoCapacity() {
    assertThat(devices.capacity()).isEqualTo(Capacity.NONE);
    assertThat(devices.list()).isEmpty();
  }

  @Test
  void fragmentationReducesTheMaximumVolumeSize() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    Capacity capacity = devices.capacity();

    assertThat(capacity.maxVolumeSize()).isEqualTo(1207959552L - (20L << 20));
    assertThat(capacity.available())
        .as("a volume in the largest gap, one in the rest, one in the other region")
        .isEqualTo(
            1207959552L
                - (20L << 20)
                + (1476395008L - 1207959552L)
                - (6L << 20)
                + 1073741824L
                - (18L << 20));
    assertThat(capacity.managed()).isEqualTo(4L << 30);
    assertThat(capacity.total()).isEqualTo(4L << 30);
  }

  @Test
  void aDisabledRegionCountsForTheTotalOnly() {
    tools.respond("ndctl list", recorded("ndctl/region-disabled.json"));

    assertThat(devices.capacity().managed()).isEqualTo(2L << 30);
    assertThat(devices.capacity().total()).isEqualTo(4L << 30);
  }

  @Test
  void aDisabledRegionMayHideAVolume() {
    tools.respond("ndctl list", recorded("ndctl/region-disabled.json"));

    assertThat(devices.unavailablePools()).containsExactly("region0");
    assertThat(devices.exists(NEW)).isFalse();
  }

  @Test
  void namedNamespacesOutsideOfVolumeGroupsAreVolumes() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    assertThat(devices.list())
        .extracting(Device::path)
        .containsExactly(Path.of("/dev/pmem0"), Path.of("/dev/pmem0.3"), Path.of("/dev/pmem0.2s"));
    assertThat(devices.find(AAA)).contains(new Device(AAA, Path.of("/dev/pmem0"), 262144000));
    assertThat(devices.find(NEW)).isEmpty();
  }

  @Test
  void aVolumeIsCreatedWithRoomForMetadataAndReportedAsTheKernelShowsIt() {
    String before = recorded("ndctl/fragmented.json");
    tools.respond("ndctl list", before);
    tools.respond("ndctl list", before.replace("aaa" + HASH, NEW.value()));

    Device device = devices.create(NEW, 256L << 20, AccessModel.APP_DIRECT);

    assertThat(device).isEqualTo(new Device(NEW, Path.of("/dev/pmem0"), 262144000));
    assertThat(tools.changes().stream().map(DirectDevicesTest::withoutUuid))
        .containsExactly(
            "ndctl create-namespace --bus=ndbus0 --region=region0 --mode=fsdax --size=285212672"
                + " --name="
                + NEW
                + " --map=dev --align=2097152");
  }

  @Test
  void theNextRegionIsTriedWhenTheFirstFails() {
    String before = recorded("ndctl/labels-no-namespaces.json");
    tools.respond("ndctl list", before).respond("ndctl list", before);
    tools.respond(
        "ndctl list", recorded("ndctl/fragmented.json").replace("aaa" + HASH, NEW.value()));
    tools.fail("ndctl create-namespace --bus=ndbus0 --region=region0", "No space left on device");

    devices.create(NEW, 0, AccessModel.FILE_IO);

    assertThat(tools.changes().stream().map(DirectDevicesTest::withoutUuid))
        .containsExactly(
            "ndctl create-namespace --bus=ndbus0 --region=region0 --mode=sector --size=33554432"
                + " --name="
                + NEW
                + " --sector-size=4096",
            "ndctl create-namespace --bus=ndbus0 --region=region1 --mode=sector --size=33554432"
                + " --name="
                + NEW
                + " --sector-size=4096");
  }

  @Test
  void aDisabledNamespaceIsEnabledOnUse() {
    String on = recorded("ndctl/fragmented.json");
    tools.respond("ndctl list", on.replace("\"blockdev\":\"pmem0\"", "\"state\":\"disabled\""));
    tools.respond("ndctl list", on);

    assertThat(devices.find(AAA)).isPresent();

    assertThat(tools.changes()).containsExactly("ndctl enable-namespace namespace0.0");
  }

  @Test
  void aSecondVolumeOfTheSameIdIsRefused() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    assertThatThrownBy(() -> devices.create(AAA, 1, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.Exists.class)
        .hasMessageContaining("262144000");
    assertThat(tools.changes()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1207959552L - (20L << 20) + 1, 1L << 50, Long.MAX_VALUE})
  void aTooLargeVolumeIsRefusedWithTheMaximumSize(long size) {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    assertThatThrownBy(() -> devices.create(NEW, size, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining(Long.toString(size))
        .hasMessageContaining("1186988032");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void deletingAnUnknownVolumeDoesNothing() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    devices.delete(NEW, true);

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aRawNamespaceIsRemovedOnlyIfItCanBeOpenedExclusively() {
    String list = recorded("ndctl/fragmented.json");
    int name = list.indexOf("aaa" + HASH);
    int mode = list.lastIndexOf("\"mode\":\"fsdax\"", name);
    tools.respond(
        "ndctl list",
        list.substring(0, mode) + list.substring(mode).replaceFirst("\"fsdax\"", "\"raw\""));

    // there is no such device here, so it cannot be opened
    assertThatThrownBy(() -> devices.delete(AAA, false))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("/dev/pmem0");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void volumesCannotBeExpanded() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));

    assertThat(devices.expand(AAA, 262144000).sizeBytes()).isEqualTo(262144000);
    assertThatThrownBy(() -> devices.expand(AAA, 262144001))
        .isInstanceOf(DeviceException.Unsupported.class);
    assertThatThrownBy(() -> devices.expand(NEW, 1)).isInstanceOf(DeviceException.NotFound.class);
  }
}
