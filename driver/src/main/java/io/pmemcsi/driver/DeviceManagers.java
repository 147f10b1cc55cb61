package io.pmemcsi.driver;

import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.direct.DirectDevices;
import io.pmemcsi.driver.device.file.FileDevices;
import io.pmemcsi.driver.device.lvm.GroupSetup;
import io.pmemcsi.driver.device.lvm.PendingNamespaces;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.WritableSys;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import java.nio.file.Path;

/** The table of device managers: opens the one of a mode. */
@FunctionalInterface
interface DeviceManagers {
  /**
   * Opens a manager, which sets up what it needs.
   *
   * @param percentage how much of the memory may be set up; zero sets up nothing new
   */
  DeviceManager open(DeviceMode mode, int percentage);

  /** The real ones. */
  static DeviceManagers real(DriverSettings settings, HostAccess host, Eraser eraser) {
    return (mode, percentage) -> {
      if (mode.usesPmem()) {
        WritableSys.ensure(host.commands());
      }
      return open(mode, percentage, settings, host, eraser);
    };
  }

  /** For an audit: nothing is set up, activated or mounted. */
  static DeviceManagers readOnly(DriverSettings settings, HostAccess host) {
    return (mode, _) -> open(mode, 0, settings, host, new Eraser((_, _, _) -> {}));
  }

  private static DeviceManager open(
      DeviceMode mode, int percentage, DriverSettings settings, HostAccess host, Eraser eraser) {
    Path stateDirectory = settings.statePath();
    return switch (mode) {
      case FILE ->
          new FileDevices(
              stateDirectory,
              new FileDevices.Pool.Percentage(percentage),
              new LoopDevices(host.loops()));
      case LVM ->
          new GroupSetup(
                  new Ndctl(host.commands()),
                  host.commands(),
                  settings.driverName(),
                  new PendingNamespaces(stateDirectory, host.files()),
                  Signatures::isBlank)
              .prepare(percentage, eraser);
      case DIRECT -> new DirectDevices(new Ndctl(host.commands()), settings.driverName(), eraser);
    };
  }
}
