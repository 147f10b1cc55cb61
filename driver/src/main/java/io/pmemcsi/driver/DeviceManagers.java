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
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.state.DurableFiles;
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
  static DeviceManagers real(Path statePath, CommandRunner runner, LoopCalls loops, Eraser eraser) {
    return (mode, percentage) -> {
      switch (mode) {
        case LVM, DIRECT -> WritableSys.ensure(runner);
        case FILE -> {}
      }
      return open(mode, percentage, statePath, runner, loops, eraser);
    };
  }

  /** For whoever only looks: nothing is set up, switched on or mounted. */
  static DeviceManagers looking(Path statePath, CommandRunner runner) {
    return (mode, _) ->
        open(mode, 0, statePath, runner, new KernelLoops(), new Eraser((_, _, _) -> {}));
  }

  private static DeviceManager open(
      DeviceMode mode,
      int percentage,
      Path statePath,
      CommandRunner runner,
      LoopCalls loops,
      Eraser eraser) {
    return switch (mode) {
      case FILE ->
          new FileDevices(
              statePath, new FileDevices.Pool.Percentage(percentage), new LoopDevices(loops));
      case LVM -> {
        PendingNamespaces fresh = new PendingNamespaces(statePath, new DurableFiles());
        yield new GroupSetup(new Ndctl(runner), runner, fresh, Signatures::isBlank)
            .prepare(percentage, eraser);
      }
      case DIRECT -> new DirectDevices(new Ndctl(runner), eraser);
    };
  }
}
