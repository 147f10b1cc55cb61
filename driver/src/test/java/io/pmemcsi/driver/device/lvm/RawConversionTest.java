package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.ndctl.NamespaceAttributes;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawConversionTest {
  private static final String RAW = recorded("ndctl/no-labels.json");
  private static final String CONVERTED = RAW.replace("\"raw\"", "\"fsdax\"");
  private static final String NO_GROUPS = recorded("lvm/pvs-none.json");

  private final RecordedTools tools = new RecordedTools();
  private final RawConversion conversion;
  private final Path processes;

  RawConversionTest(@TempDir Path processes) {
    this.processes = processes;
    this.conversion =
        new RawConversion(
            new Ndctl(tools, NamespaceAttributes.SYSFS, new OrphanedCommands(processes), () -> {}),
            tools);
  }

  @Test
  void rawNamespacesOfAllRegionsAreConvertedAndPutIntoGroups() {
    tools.respond("ndctl list", RAW).respond("ndctl list", CONVERTED);
    tools
        .respond("pvs", NO_GROUPS)
        .respond("pvs", NO_GROUPS)
        .respond("pvs", GroupSetupTest.pvs("pmem0", "pmem1"));

    assertThat(conversion.convert()).isEqualTo(2);

    assertThat(tools.changes())
        .containsExactly(
            "ndctl create-namespace --force --mode=fsdax --bus=ndbus0 --region=region0"
                + " --reconfig=namespace0.0",
            "wipefs --all --force /dev/pmem0",
            "vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0",
            "ndctl create-namespace --force --mode=fsdax --bus=ndbus0 --region=region1"
                + " --reconfig=namespace1.0",
            "wipefs --all --force /dev/pmem1",
            "vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1");
  }

  /** It would destroy the group that the namespace is in by then. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ndctl\0create-namespace\0--force\0--mode=fsdax\0--reconfig=namespace0.0\0",
        "wipefs\0--all\0--force\0/dev/pmem0\0"
      })
  void nothingIsConvertedWhileACommandOfAKilledConversionRuns(String command) throws IOException {
    tools.respond("ndctl list", CONVERTED);
    tools.respond("pvs", NO_GROUPS);
    Path orphan = Files.createDirectory(processes.resolve("17"));
    Files.writeString(orphan.resolve("cmdline"), command);

    assertThatThrownBy(conversion::convert)
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("try again when it has ended");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void anInterruptedConversionIsFinished() {
    tools.respond("ndctl list", CONVERTED);
    tools.respond("pvs", GroupSetupTest.pvs("pmem0"));

    assertThat(conversion.convert()).isEqualTo(2);

    assertThat(tools.changes())
        .containsExactly("vgcreate --dataalignment=2097152b ndbus0region1fsdax /dev/pmem1");
  }

  @Test
  void aSecondRunChangesNothing() {
    tools.respond("ndctl list", CONVERTED);
    tools.respond("pvs", GroupSetupTest.pvs("pmem0", "pmem1"));

    assertThat(conversion.convert()).isEqualTo(2);
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aNamespaceOfTheDriverIsSkipped() {
    tools.respond(
        "ndctl list",
        CONVERTED.replace("\"sector_size\":512,", "\"sector_size\":512,\"name\":\"pmem-csi\","));
    tools.respond("pvs", NO_GROUPS);

    assertThat(conversion.convert()).isZero();
    assertThat(tools.changes()).isEmpty();
  }

  /** Volumes of device mode direct are named by their id, and others have names of their own. */
  @Test
  void aNamespaceWithAnotherNameIsTreatedAsAVolume() {
    tools.respond("ndctl list", recorded("ndctl/fragmented.json"));
    tools.respond("pvs", GroupSetupTest.pvs("pmem1"));

    assertThat(conversion.convert()).isZero();
    assertThat(tools.changes()).isEmpty();
  }

  /** Recorded from LVM 2.03, which asks before it wipes a signature. */
  @Test
  void aNamespaceThatWasNotRawAndHoldsAFilesystemIsRefused() {
    tools.respond("ndctl list", CONVERTED);
    tools.respond("pvs", NO_GROUPS);
    tools.fail(
        "vgcreate",
        "WARNING: ext4 signature detected on /dev/pmem0 at offset 1080. Wipe it? [y/n]: [n]\n"
            + "  Aborted wiping of ext4.\n  1 existing signature left on the device.");

    assertThatThrownBy(conversion::convert)
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("1 existing signature left on the device")
        .hasMessageContaining("[/dev/pmem0] into volume group ndbus0region0fsdax");
    assertThat(tools.changes())
        .containsExactly("vgcreate --dataalignment=2097152b ndbus0region0fsdax /dev/pmem0");
  }

  @Test
  void emptyNamespacesAndOtherModesAreSkippedAndNoUsableNamespaceIsFatal() {
    tools.respond("ndctl list", recorded("ndctl/labels-no-namespaces.json"));
    tools.respond("ndctl list", RAW.replace("\"raw\"", "\"devdax\""));
    tools.respond("pvs", NO_GROUPS);

    assertThatThrownBy(conversion::convert)
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("no volume group and no suitable namespace found");
    assertThatThrownBy(conversion::convert).isInstanceOf(FatalException.class);
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aNodeWithoutMemoryIsFatal() {
    tools.respond("pvs", NO_GROUPS);

    assertThatThrownBy(conversion::convert).isInstanceOf(FatalException.class);
  }

  @Test
  void aFailureStopsAtTheFailingNamespace() {
    tools.respond("ndctl list", RAW);
    tools.respond("pvs", NO_GROUPS);
    tools.fail("ndctl create-namespace", "namespace0.0: failed to reconfigure");

    assertThatThrownBy(conversion::convert)
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("failed to reconfigure");
    assertThat(tools.changes()).hasSize(1);
  }
}
