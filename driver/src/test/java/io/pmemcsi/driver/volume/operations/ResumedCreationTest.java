package io.pmemcsi.driver.volume.operations;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.audit.Audit;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.audit.NodeState;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.device.lvm.LvmDevices;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tool may outlive the driver that started it: the driver still owns what the tool creates. */
class ResumedCreationTest {
  private static final VolumeId ID = VolumeId.fromName("slow");
  private static final SizeRange SIZE = new SizeRange(104857600, 0);
  private static final String BEFORE = recorded("lvm/fullreport.json");
  private static final String AFTER =
      BEFORE.replace("aaa-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5", ID.value());

  @TempDir Path directory;
  private final Set<VolumeId> beingCreated = new HashSet<>();
  private final RecordedTools tools = new RecordedTools();
  private Ledger ledger;
  private Devices devices;
  private VolumeCreator creator;
  private VolumeDeleter deleter;

  @BeforeEach
  void open() {
    LvmDevices lvm =
        new LvmDevices(
            tools,
            new Eraser((_, _, _) -> {}),
            new DriverName("pmem-csi.intel.com"),
            List.of("ndbus0region1fsdax", "data"),
            4L << 30,
            List::of);
    ledger = Ledger.open(directory.resolve("state"), new DurableFiles());
    devices =
        new Devices(
            lvm,
            mode -> {
              throw new IllegalStateException("there is no mode " + mode);
            },
            beingCreated::contains);
    Volumes volumes = new Volumes(ledger, devices, new VolumeLocks());
    DeviceUsers users = new DeviceUsers(new Mounts(tools, new KernelMounts(), Path.of("/nowhere")));
    creator = new VolumeCreator(volumes, ledger, devices, users, new Signatures(tools));
    deleter = new VolumeDeleter(volumes, ledger, devices, users);
  }

  private VolumeRecord create() {
    return creator.create("slow", SIZE, VolumeParameters.DEFAULTS);
  }

  private void interrupted() {
    ledger.add(
        new VolumeRecord(
            ID,
            SIZE.requiredBytes(),
            VolumeParameters.DEFAULTS.named("slow", DeviceMode.LVM),
            new VolumeState.Creating()));
  }

  private void theToolExitsBetweenListingAndCreation() {
    tools.respond("lvm fullreport", BEFORE).respond("lvm fullreport", AFTER);
    tools.fail(
        "lvcreate",
        "  Logical Volume \"%s\" already exists in volume group \"ndbus0region1fsdax\""
            .formatted(ID));
  }

  private static void assertAborted(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(VolumeException.Unfinished.class);
  }

  private AuditReport start() {
    return Audit.repair(
        ledger,
        devices,
        new NodeState(MountTable.parse(""), Map.of(), List.of(), Map.of(), List.of()),
        new HealthProbe(tools),
        new DurableFiles());
  }

  @Test
  void aStartKeepsTheRecordWhileTheToolRunsAndRemovesItAfterwards() {
    tools.respond("lvm fullreport", BEFORE);
    interrupted();
    beingCreated.add(ID);

    assertThat(start().open())
        .extracting(AuditReport.Finding::kind, AuditReport.Finding::subject)
        .contains(tuple(AuditReport.Kind.UNFINISHED_CREATE, ID.value()));
    assertThat(ledger.find(ID)).isPresent();

    beingCreated.clear();
    start();
    assertThat(ledger.find(ID)).isEmpty();
  }

  @Test
  void nothingIsCreatedOrRemovedWhileTheToolRuns() {
    tools.respond("lvm fullreport", BEFORE);
    interrupted();
    beingCreated.add(ID);

    assertAborted(this::create);
    assertAborted(() -> deleter.delete(ID.value()));

    assertThat(ledger.find(ID)).isPresent();
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aDeviceThatTheToolCreatedSinceTheLastListingIsUsed() {
    tools.respond("lvm fullreport", BEFORE).respond("lvm fullreport", AFTER);
    devices.measure(); // caches that there is no such device
    interrupted();

    assertThat(create().sizeBytes()).isEqualTo(SIZE.requiredBytes());
    assertThat(tools.changes()).noneMatch(change -> change.startsWith("lvcreate"));
  }

  @Test
  void aToolThatCouldNotBeKilledKeepsItsRecord() {
    tools.respond("lvm fullreport", BEFORE);
    tools.fail("lvcreate", "device-mapper: reload ioctl failed");
    beingCreated.add(ID);

    // with another code the CO would not retry
    assertAborted(this::create);

    assertThat(ledger.find(ID).map(VolumeRecord::state)).contains(new VolumeState.Creating());
  }

  @Test
  void theDeviceOfAnInterruptedCallIsKeptAndTheNextCallFinishesIt() {
    theToolExitsBetweenListingAndCreation();
    interrupted();

    assertAborted(this::create);
    assertThat(ledger.find(ID).map(VolumeRecord::state)).contains(new VolumeState.Creating());

    assertThat(create().sizeBytes()).isEqualTo(SIZE.requiredBytes());
    assertThat(ledger.find(ID).map(VolumeRecord::state))
        .containsInstanceOf(VolumeState.Blank.class);
  }

  @Test
  void aDeviceThatAnotherProgramCreatedConcurrentlyIsNotUsed() {
    theToolExitsBetweenListingAndCreation();

    assertThatThrownBy(this::create).isInstanceOf(DeviceException.Exists.class);

    assertThat(ledger.find(ID)).isEmpty();
  }
}
