package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.NodePublishVolumeRequest;
import io.grpc.Status;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.state.DurableFiles;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Ephemeral volumes that could not be published are removed, and erased only if needed. */
class FailedEphemeralIT extends ScratchPerTest {

  private final ProcessRunner real = new ProcessRunner();

  /** The erase flag of each removed device. */
  private final List<Boolean> erased = Collections.synchronizedList(new ArrayList<>());

  private FileModeDriver watched(CommandRunner commands) {
    return FileModeDriver.start(
        scratch.directory(),
        new HostAccess(commands, new DurableFiles(), new KernelMounts(), new KernelLoops()),
        FileModeDriver.POOL,
        this::watching);
  }

  private DeviceManager watching(DeviceManager devices) {
    return (DeviceManager)
        Proxy.newProxyInstance(
            DeviceManager.class.getClassLoader(),
            new Class<?>[] {DeviceManager.class},
            (_, method, arguments) -> {
              if (method.getName().equals("delete")) {
                erased.add((Boolean) arguments[1]);
              }
              try {
                return method.invoke(devices, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private CommandRunner failing(String program) {
    return command -> real.run(command.program().equals(program) ? Command.of("false") : command);
  }

  private NodePublishVolumeRequest.Builder request(String type, String size, String... flags) {
    return Calls.ephemeral(
        "csi-x", scratch.pod("target"), mount(type, flags), Map.of("size", size));
  }

  @Test
  void aVolumeThatNoPodCouldWriteToIsRemovedWithoutErasing() {
    try (FileModeDriver driver = watched(failing("mkfs.ext4"))) {
      assertThatCall(() -> new Calls(driver).publish(request("ext4", "16Mi")))
          .fails(Status.Code.INTERNAL, "exit code 1");
    }
    try (FileModeDriver driver = watched(real)) {
      assertThatCall(() -> new Calls(driver).publish(request("ext4", "16Mi", "no-such-option")))
          .fails(Status.Code.INTERNAL, "no-such-option");
    }

    assertThat(erased).containsExactly(false, false);
    scratch.assertNothingLeft();
  }

  @Test
  void aVolumeThatWasMountedAtItsTargetIsErased() {
    try (FileModeDriver driver = watched(failing("xfs_io"))) {
      assertThatCall(() -> new Calls(driver).publish(request("xfs", "320Mi")))
          .fails(Status.Code.INTERNAL, "exit code 1");
    }

    assertThat(erased).containsExactly(true);
    scratch.assertNothingLeft();
  }

  @Test
  void aPublishedVolumeIsErasedEvenIfALaterCallFails() {
    try (FileModeDriver driver = watched(real)) {
      Calls csi = new Calls(driver);
      csi.publish(request("ext4", "16Mi"));

      assertThatCall(() -> csi.publish(request("ext4", "16Mi").setReadonly(true)))
          .fails(Status.Code.ALREADY_EXISTS, "writable");
      assertThat(erased).as("published").isEmpty();
      assertThat(scratch.mounts()).containsExactly(scratch.pod("target"));
      csi.unpublish("csi-x", scratch.pod("target"));
    }

    assertThat(erased).containsExactly(true);
  }
}
