package io.pmemcsi.driver;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.MountAttributes;
import io.pmemcsi.driver.linux.mount.MountCalls;
import io.pmemcsi.driver.linux.mount.MountOptions;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs in the guest: the real driver, which crashes as by kill -9 at its n-th access to the host.
 * The file {@link #ORDER} holds n, counted since the file exists, and whether to crash before,
 * during or after that step.
 */
public final class CrashingDriver {

  /** For example {@code 7 MIDDLE}. */
  public static final String ORDER = "/run/crash-order";

  /** The step at which the driver last crashed. */
  public static final String LAST_STEP = "/run/crash-step";

  private static final Duration INTO_A_COMMAND = Duration.ofMillis(30);

  private CrashingDriver() {}

  /** Arguments: device mode, percentage, socket and state directory. */
  public static void main(String[] args) throws InterruptedException {
    DriverSettings settings =
        new DriverSettings(
            new DriverName("pmem-csi.intel.com"),
            "guest",
            new Endpoint(Path.of(args[2])),
            Path.of(args[3]),
            DeviceMode.parse(args[0]).orElseThrow(),
            Integer.parseInt(args[1]),
            Optional.empty(),
            "/metrics");
    DriverMetrics metrics = new DriverMetrics(settings.driverName(), settings.nodeId());
    CrashingHost crashingHost = new CrashingHost();
    HostAccess host = new HostAccess(crashingHost, crashingHost, crashingHost, crashingHost);
    DeviceManagers managers =
        DeviceManagers.real(settings, host, new Eraser((_, _, _) -> crashingHost.step("erase")));
    try (NodeDriver driver =
        NodeDriver.start(
            settings,
            metrics,
            host,
            (mode, percentage) -> crashingHost.around(managers.open(mode, percentage)))) {
      System.out.println("findings at start: " + driver.startAudit().findings());
      new CountDownLatch(1).await();
    }
  }

  /** When it crashes relative to the step. */
  public enum When {
    BEFORE,
    MIDDLE,
    AFTER
  }

  private static final class CrashingHost
      implements CommandRunner, StateFiles, MountCalls, LoopCalls {
    private final ProcessRunner processes = new ProcessRunner();
    private final DurableFiles files = new DurableFiles();
    private final KernelMounts kernel = new KernelMounts();
    private final KernelLoops loops = new KernelLoops();
    private int steps;

    private Optional<When> enter(String what) {
      Path order = Path.of(ORDER);
      synchronized (this) {
        try {
          if (!Files.exists(order)) {
            steps = 0;
            return Optional.empty();
          }
          String[] words = Files.readString(order).strip().split(" ", -1);
          steps++;
          if (steps != Integer.parseInt(words[0])) {
            return Optional.empty();
          }
          Files.writeString(Path.of(LAST_STEP), words[1] + " " + what);
          Files.delete(order);
          When when = When.valueOf(words[1]);
          if (when == When.BEFORE) {
            crash();
          }
          return Optional.of(when);
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
    }

    private static void crash() {
      Runtime.getRuntime().halt(137);
    }

    /** A step that cannot be interrupted. */
    void step(String what) {
      enter(what).ifPresent(_ -> crash());
    }

    @Override
    public CommandResult run(Command command) {
      Optional<When> when = enter("command " + command);
      if (when.equals(Optional.of(When.MIDDLE))) {
        // the command continues, as after kill -9 of its parent
        Thread.ofPlatform()
            .start(
                () -> {
                  LockSupport.parkNanos(INTO_A_COMMAND.toNanos());
                  crash();
                });
      }
      CommandResult result = processes.run(command);
      when.ifPresent(_ -> crash());
      return result;
    }

    /** The same devices, where copying one to another is a step as well. */
    DeviceManager around(DeviceManager devices) {
      return (DeviceManager)
          Proxy.newProxyInstance(
              DeviceManager.class.getClassLoader(),
              new Class<?>[] {DeviceManager.class},
              (_, method, arguments) -> {
                try {
                  if (method.getName().equals("copy")) {
                    copy(devices, (Device) arguments[0], (Device) arguments[1]);
                    return null;
                  }
                  return method.invoke(devices, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }

    private void copy(DeviceManager devices, Device from, Device to) throws IOException {
      Optional<When> when = enter("copy " + from.id());
      if (when.equals(Optional.of(When.MIDDLE))) {
        devices.copy(new Device(from.id(), from.path(), from.sizeBytes() / 2), to);
        crash();
      }
      devices.copy(from, to);
      when.ifPresent(_ -> crash());
    }

    @Override
    public boolean freeze(Path mountPoint) throws IOException {
      Optional<When> when = enter("freeze " + mountPoint);
      boolean frozen = kernel.freeze(mountPoint);
      when.ifPresent(_ -> crash());
      return frozen;
    }

    @Override
    public void thaw(Path mountPoint) throws IOException {
      Optional<When> when = enter("thaw " + mountPoint);
      kernel.thaw(mountPoint);
      when.ifPresent(_ -> crash());
    }

    @Override
    public Path attach(Path file, long offset) throws IOException {
      Optional<When> when = enter("attach " + file);
      Path device = loops.attach(file, offset);
      when.ifPresent(_ -> crash());
      return device;
    }

    @Override
    public void detach(Path device) throws IOException {
      Optional<When> when = enter("detach " + device);
      loops.detach(device);
      when.ifPresent(_ -> crash());
    }

    @Override
    public void refreshSize(Path device) throws IOException {
      Optional<When> when = enter("refresh the size of " + device);
      loops.refreshSize(device);
      when.ifPresent(_ -> crash());
    }

    @Override
    public Optional<Status> status(Path device) throws IOException {
      return loops.status(device);
    }

    @Override
    public List<Path> attached() throws IOException {
      return loops.attached();
    }

    @Override
    public List<String> list(Path directory) throws IOException {
      return files.list(directory);
    }

    @Override
    public byte[] read(Path file) throws IOException {
      return files.read(file);
    }

    @Override
    public void write(Path file, byte[] content) throws IOException {
      Optional<When> when = enter("write " + file);
      if (when.equals(Optional.of(When.MIDDLE))) {
        Files.write(file.resolveSibling(file.getFileName() + ".tmp"), new byte[] {'{', '"'});
        crash();
      }
      files.write(file, content);
      when.ifPresent(_ -> crash());
    }

    @Override
    public void delete(Path file) throws IOException {
      Optional<When> when = enter("delete " + file);
      files.delete(file);
      when.ifPresent(_ -> crash());
    }

    @Override
    public void mount(Path source, Path target, String type, MountOptions options)
        throws IOException {
      Optional<When> when = enter("mount " + target);
      kernel.mount(source, target, type, options);
      when.ifPresent(_ -> crash());
    }

    @Override
    public void bind(Path source, Path target, MountAttributes attributes) throws IOException {
      Optional<When> when = enter("bind " + target);
      kernel.bind(source, target, attributes);
      when.ifPresent(_ -> crash());
    }

    @Override
    public void unmount(Path target) throws IOException {
      Optional<When> when = enter("unmount " + target);
      kernel.unmount(target);
      when.ifPresent(_ -> crash());
    }
  }
}
