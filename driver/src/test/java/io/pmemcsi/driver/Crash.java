package io.pmemcsi.driver;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.MountAttributes;
import io.pmemcsi.driver.linux.mount.MountCalls;
import io.pmemcsi.driver.linux.mount.MountOptions;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A driver that crashes at its n-th access to the host: before, during or after that step. After
 * the crash it changes nothing, whatever its code tries.
 */
final class Crash implements CommandRunner, StateFiles, MountCalls, LoopCalls {

  /** When it crashes relative to the step. */
  enum When {
    BEFORE,
    MIDDLE,
    AFTER
  }

  /** An error, so that no handler of the driver mistakes it for an expected failure. */
  static final class Died extends Error {
    Died(String at) {
      super(at);
    }
  }

  private final ProcessRunner processes = new ProcessRunner();
  private final DurableFiles files = new DurableFiles();
  private final KernelMounts kernel = new KernelMounts();
  private final KernelLoops loops = new KernelLoops();
  private final int step;
  private final When when;
  private boolean armed = true;
  private int steps;
  private boolean dead;
  private String at = "";

  Crash(int step, When when) {
    this.step = step;
    this.when = when;
  }

  /** Counts no steps before {@link #arm}. */
  static Crash disarmed(int step, When when) {
    Crash crash = new Crash(step, when);
    crash.armed = false;
    return crash;
  }

  synchronized void arm() {
    armed = true;
  }

  synchronized boolean happened() {
    return dead;
  }

  /** The step at which it crashed. */
  synchronized String at() {
    return "step %d, %s %s".formatted(step, when, at);
  }

  @Override
  public CommandResult run(Command command) {
    boolean now = enter("command " + command);
    if (now && when == When.BEFORE) {
      throw die();
    }
    if (now && when == When.MIDDLE) {
      killSoon(command);
      throw die();
    }
    CommandResult result = processes.run(command);
    if (now) {
      throw die();
    }
    return result;
  }

  /** Kills the command as well, early in its work. */
  private void killSoon(Command command) {
    Cancellation call = new Cancellation();
    Thread killer =
        Thread.ofVirtual()
            .start(
                () -> {
                  LockSupport.parkNanos(3_000_000);
                  call.cancel();
                });
    call.serve(
        () -> {
          try {
            processes.run(command);
            killer.join();
          } catch (ToolFailedException | InterruptedException e) {
            // as intended
          }
        });
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
    boolean now = enter("copy " + from.id());
    if (now && when == When.BEFORE) {
      throw die();
    }
    if (now && when == When.MIDDLE) {
      devices.copy(new Device(from.id(), from.path(), from.sizeBytes() / 2), to);
      throw die();
    }
    devices.copy(from, to);
    if (now) {
      throw die();
    }
  }

  @Override
  public void write(Path file, byte[] content) throws IOException {
    boolean now = enter("write " + file);
    if (now && when == When.MIDDLE) {
      Files.write(file.resolveSibling(file.getFileName() + ".tmp"), new byte[] {'{', '"'});
    }
    if (now && when != When.AFTER) {
      throw die();
    }
    files.write(file, content);
    if (now) {
      throw die();
    }
  }

  @Override
  public void delete(Path file) throws IOException {
    boolean now = enter("delete " + file);
    if (now && when != When.AFTER) {
      throw die();
    }
    files.delete(file);
    if (now) {
      throw die();
    }
  }

  @Override
  public void mount(Path source, Path target, String type, MountOptions options)
      throws IOException {
    boolean now = enter("mount " + target);
    if (now && when != When.AFTER) {
      throw die();
    }
    kernel.mount(source, target, type, options);
    if (now) {
      throw die();
    }
  }

  @Override
  public void bind(Path source, Path target, MountAttributes attributes) throws IOException {
    boolean now = enter("bind " + target);
    if (now && when != When.AFTER) {
      throw die();
    }
    kernel.bind(source, target, attributes);
    if (now) {
      throw die();
    }
  }

  @Override
  public boolean freeze(Path mountPoint) throws IOException {
    boolean now = enter("freeze " + mountPoint);
    if (now && when != When.AFTER) {
      throw die();
    }
    boolean frozen = kernel.freeze(mountPoint);
    if (now) {
      throw die();
    }
    return frozen;
  }

  @Override
  public void thaw(Path mountPoint) throws IOException {
    boolean now = enter("thaw " + mountPoint);
    if (now && when != When.AFTER) {
      throw die();
    }
    kernel.thaw(mountPoint);
    if (now) {
      throw die();
    }
  }

  @Override
  public void unmount(Path target) throws IOException {
    boolean now = enter("unmount " + target);
    if (now && when != When.AFTER) {
      throw die();
    }
    kernel.unmount(target);
    if (now) {
      throw die();
    }
  }

  @Override
  public Path attach(Path file, long offset) throws IOException {
    boolean now = enter("attach " + file);
    if (now && when != When.AFTER) {
      throw die();
    }
    Path device = loops.attach(file, offset);
    if (now) {
      throw die();
    }
    return device;
  }

  @Override
  public void detach(Path device) throws IOException {
    boolean now = enter("detach " + device);
    if (now && when != When.AFTER) {
      throw die();
    }
    loops.detach(device);
    if (now) {
      throw die();
    }
  }

  @Override
  public void refreshSize(Path device) throws IOException {
    boolean now = enter("refresh the size of " + device);
    if (now && when != When.AFTER) {
      throw die();
    }
    loops.refreshSize(device);
    if (now) {
      throw die();
    }
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

  private synchronized boolean enter(String what) {
    if (dead) {
      throw new Died("after " + at);
    }
    if (!armed) {
      return false;
    }
    steps++;
    if (steps == step) {
      at = what;
    }
    return steps == step;
  }

  private synchronized Died die() {
    dead = true;
    return new Died(at);
  }
}
