package io.pmemcsi.driver;

import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.direct.DirectDevices;
import io.pmemcsi.driver.device.file.FileDevices;
import io.pmemcsi.driver.device.lvm.FreshNamespaces;
import io.pmemcsi.driver.device.lvm.GroupSetup;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.WritableSys;
import io.pmemcsi.driver.volume.DeviceMode;
import io.pmemcsi.driver.volume.DurableFiles;
import java.nio.file.Path;

/** Opens the device manager for a mode. */
@FunctionalInterface
interface DeviceManagers {

  /**
   * Opens a manager, which sets up what it needs.
   *
   * @param percentage how much of the memory may be set up; zero sets up nothing new
   */
  DeviceManager open(DeviceMode mode, int percentage);

  /** The real ones. */
  static DeviceManagers real(Path statePath, CommandRunner runner, Eraser eraser) {
    return (mode, percentage) ->
        switch (mode) {
          case FILE ->
              new FileDevices(statePath, new FileDevices.Pool.Percentage(percentage), runner);
          case LVM -> {
            WritableSys.ensure(runner);
            FreshNamespaces fresh = new FreshNamespaces(statePath, new DurableFiles());
            yield new GroupSetup(new Ndctl(runner), runner, fresh).prepare(percentage, eraser);
          }
          case DIRECT -> {
            WritableSys.ensure(runner);
            yield new DirectDevices(new Ndctl(runner), eraser);
          }
        };
  }
}
