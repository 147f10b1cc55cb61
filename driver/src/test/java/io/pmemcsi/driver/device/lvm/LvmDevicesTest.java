package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LvmDevicesTest {
  private static final String HASH = "-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5";
  private static final VolumeId AAA = new VolumeId("aaa" + HASH);
  private static final VolumeId BBB = new VolumeId("bbb" + HASH);
  private static final VolumeId NEW = new VolumeId("new" + HASH);

  private static final String TAG = " --addtag=pmem-csi.driver=pmem-csi.intel.com";

  private final RecordedTools tools =
      new RecordedTools().respond("lvm fullreport", recorded("lvm/fullreport.json"));
  private final LvmDevices devices = devices(tools);

  private static LvmDevices devices(CommandRunner runner) {
    return new LvmDevices(
        runner,
        new Eraser((_, _, _) -> {}),
        new DriverName("pmem-csi.intel.com"),
        List.of("ndbus0region1fsdax", "data"),
        4L << 30,
        List::of);
  }

  @Test
  void aVolumeWithTheTagOfAnotherDriverIsNotOwned() {
    tools.respond(
        "lvm fullreport",
        recorded("lvm/fullreport.json")
            .replace("\"104857600\"", "\"104857600\", \"lv_tags\":\"x,pmem-csi.driver=second\""));

    devices.list();
    assertThat(devices.isOwn(AAA)).as("that of this driver, or of an earlier release").isTrue();
    devices.list();
    assertThat(devices.isOwn(AAA)).isFalse();
    assertThat(devices.isOwn(BBB)).isTrue();
  }

  @Test
  void volumesOfEarlierReleasesGetTheTagOfTheirDriver() {
    devices.list();
    devices.claim(List.of(AAA, NEW));

    assertThat(tools.changes())
        .containsExactly(
            "lvchange --addtag=pmem-csi.driver=pmem-csi.intel.com ndbus0region1fsdax/" + AAA);
  }

  @Test
  void volumesAreListedInAStableOrder() {
    assertThat(devices.list()).extracting(Device::id).containsExactly(AAA, BBB);
  }

  @Test
  void aVolumeHasWholeExtentsAndIsCountedAtOnce() {
    long before = devices.capacity().available();

    Device device = devices.create(NEW, 1, AccessModel.APP_DIRECT);

    assertThat(device)
        .isEqualTo(new Device(NEW, Path.of("/dev/ndbus0region1fsdax/" + NEW), 4194304));
    assertThat(tools.changes())
        .containsExactly(
            "lvcreate --yes -Zn -Wn --size=4194304b --name="
                + NEW
                + " --addtag=pmem-csi.driver=pmem-csi.intel.com ndbus0region1fsdax");
    assertThat(devices.capacity().available()).isEqualTo(before - 4194304);
  }

  @Test
  void aVolumeIsNotCreatedWhileItsRemovalByAnInterruptedCallRuns() throws Exception {
    VolumeId removed = VolumeId.fromName("removed by " + ProcessHandle.current().pid());
    Process orphan =
        new ProcessBuilder("sh", "-c", "read line", "lvremove", "ndbus0region1fsdax/" + removed)
            .start();
    try {
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> devices.create(removed, 1, AccessModel.APP_DIRECT))
                      .isInstanceOf(DeviceException.ToolFailed.class)
                      .hasMessageContaining("of an interrupted call still runs"));
    } finally {
      orphan.getOutputStream().close(); // it waits for the end of its input
      orphan.waitFor();
    }
    devices.list();
    assertThat(devices.create(removed, 1, AccessModel.APP_DIRECT).id()).isEqualTo(removed);
  }

  @Test
  void theNextGroupIsTriedWhenTheFirstFails() {
    tools.fail(
        "lvcreate --yes -Zn -Wn --size=4194304b --name=" + NEW + TAG + " ndbus0", "I/O error");

    assertThat(devices.create(NEW, 0, AccessModel.APP_DIRECT).path())
        .isEqualTo(Path.of("/dev/data/" + NEW));
  }

  @Test
  void aVolumeCreatedByAFailedCommandIsNotCreatedTwice() {
    tools.respond(
        "lvm fullreport", recorded("lvm/fullreport.json").replace(AAA.value(), NEW.value()));
    tools.fail("lvcreate", "device-mapper: reload ioctl failed");

    assertThatThrownBy(() -> devices.create(NEW, 0, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("reload ioctl failed");
    assertThat(tools.changes()).as("tried in one group only").hasSize(1);
  }

  /** Recorded from LVM 2.03; another program created the volume since the last report. */
  @Test
  void aVolumeThatAnotherProgramCreatedConcurrentlyIsRefused() {
    tools.fail(
        "lvcreate",
        "  Logical Volume \"%s\" already exists in volume group \"ndbus0region1fsdax\""
            .formatted(NEW));

    assertThatThrownBy(() -> devices.create(NEW, 0, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.Exists.class);
    assertThat(tools.changes()).as("tried in one group only").hasSize(1);
  }

  @Test
  void aKilledCommandIsNotRetriedInTheNextGroup() {
    List<String> started = new ArrayList<>();
    CommandRunner hanging =
        command -> {
          if (command.program().equals("lvcreate")) {
            started.add(command.toString());
            throw ToolFailedException.timedOut(command, "");
          }
          return tools.run(command);
        };

    assertThatThrownBy(() -> devices(hanging).create(NEW, 0, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class);
    assertThat(started).hasSize(1);
  }

  @Test
  void aVolumeInUseIsFoundWhileACommandForAnotherOneHangs(@TempDir Path directory)
      throws Exception {
    Path node = Files.createFile(directory.resolve("device"));
    RecordedTools active =
        new RecordedTools()
            .respond(
                "lvm fullreport",
                recorded("lvm/fullreport.json")
                    .replace("/dev/ndbus0region1fsdax/" + AAA, node.toString()));
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    LvmDevices behindHanging =
        devices(
            command -> {
              if (command.program().equals("lvcreate")) {
                started.countDown();
                awaitUninterruptibly(released);
              }
              return active.run(command);
            });
    behindHanging.list();
    Thread creation =
        Thread.ofPlatform().start(() -> behindHanging.create(NEW, 0, AccessModel.APP_DIRECT));
    try {
      assertThat(started.await(120, SECONDS)).isTrue();

      assertThat(CompletableFuture.supplyAsync(() -> behindHanging.find(AAA)))
          .succeedsWithin(Duration.ofSeconds(60))
          .isEqualTo(Optional.of(new Device(AAA, node, 104857600)));
      assertThat(creation.isAlive()).isTrue();
    } finally {
      released.countDown();
      creation.join();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theMessageOfTheToolReachesTheCaller() {
    tools.fail("lvcreate", "device-mapper: reload ioctl failed");

    assertThatThrownBy(() -> devices.create(NEW, 0, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("device-mapper: reload ioctl failed");
  }

  @ParameterizedTest
  @ValueSource(longs = {943718401, 1L << 50, Long.MAX_VALUE})
  void aTooLargeVolumeIsRefusedWithTheMaximumSize(long size) {
    assertThatThrownBy(() -> devices.create(NEW, size, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining(Long.toString(size))
        .hasMessageContaining("943718400");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aSecondVolumeOfTheSameIdIsRefused() {
    assertThatThrownBy(() -> devices.create(AAA, 1, AccessModel.APP_DIRECT))
        .isInstanceOf(DeviceException.Exists.class);
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void anInactiveVolumeIsActivatedOnUse() {
    assertThat(devices.find(BBB)).isPresent();

    assertThat(tools.changes()).containsExactly("lvchange --activate=y ndbus0region1fsdax/" + BBB);
  }

  @Test
  void checkingWhetherAVolumeExistsChangesNothing() {
    assertThat(devices.exists(BBB)).isTrue();
    assertThat(devices.exists(NEW)).isFalse();

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void deletingAnUnknownVolumeDoesNothing() {
    devices.delete(NEW, true);

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aVolumeIsExpandedAsFarAsItsGroupAllows() {
    assertThatThrownBy(() -> devices.expand(AAA, 104857600 + 943718400L + 1))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining(Long.toString(104857600 + 943718400L));
    assertThatThrownBy(() -> devices.expand(NEW, 1)).isInstanceOf(DeviceException.NotFound.class);

    long before = devices.capacity().available();
    Device expanded = devices.expand(AAA, 104857601);

    assertThat(tools.changes()).contains("lvextend --size=109051904b ndbus0region1fsdax/" + AAA);
    assertThat(expanded.sizeBytes()).isEqualTo(109051904);
    assertThat(devices.capacity().available()).isEqualTo(before - 4194304);
  }

  @Test
  void anExpansionThatLvmRefusesIsExplainedByANewReport() {
    devices.capacity();
    tools.fail("lvextend", "  Insufficient free space: 1 extents needed, but only 0 available");
    tools.respond(
        "lvm fullreport", recorded("lvm/fullreport.json").replace("\"943718400\"", "\"0\""));

    assertThatThrownBy(() -> devices.expand(AAA, 104857601))
        .as("another program has used the space since the last report")
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining("104857600");
  }

  /** LVM fails the whole report if one group does not exist. */
  private LvmDevices oneGroupHasVanished() {
    String whole = recorded("lvm/fullreport.json");
    String first = whole.substring(0, whole.lastIndexOf("\"vg\": [")).strip();
    String report = first.substring(0, first.lastIndexOf(',')) + "]}";
    return devices(
        command -> {
          if (command.toString().startsWith("lvm fullreport")) {
            CommandResult result =
                command.toString().endsWith(" data")
                    ? new CommandResult(5, "", "  Volume group \"data\" not found")
                    : new CommandResult(0, report, "");
            if (result.exitCode() != 0) {
              throw ToolFailedException.exited(command, result);
            }
            return result;
          }
          return tools.run(command);
        });
  }

  @Test
  void aMissingGroupDoesNotBlockTheOthers() {
    LvmDevices rest = oneGroupHasVanished();

    assertThat(rest.list()).extracting(Device::id).containsExactly(AAA, BBB);
    assertThat(rest.capacity().available()).isEqualTo(943718400);
    assertThat(rest.create(NEW, 1, AccessModel.APP_DIRECT).path())
        .isEqualTo(Path.of("/dev/ndbus0region1fsdax/" + NEW));
  }

  @Test
  void aVolumeThatMayBeInAMissingGroupIsNotReportedAsDeleted() {
    LvmDevices rest = oneGroupHasVanished();

    assertThat(rest.unavailablePools()).containsExactly("data (LVM cannot read it)");
    assertThatThrownBy(() -> rest.delete(NEW, false))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("it may be in data, which LVM cannot read");
  }

  @Test
  void ifNoGroupCanBeReadTheFailureOfLvmIsReported() {
    RecordedTools broken = new RecordedTools().fail("lvm fullreport", "  No space left on device");

    assertThatThrownBy(() -> devices(broken).list())
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("No space left on device");
  }
}
