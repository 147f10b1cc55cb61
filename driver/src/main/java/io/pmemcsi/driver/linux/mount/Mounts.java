package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts and unmounts. The driver asks the kernel directly, which takes a fraction of the time that
 * starting a tool takes. Where the kernel refuses, it runs the tool: mount(8) knows options that
 * the kernel does not, and prints a better error message.
 */
public final class Mounts {

  private static final Logger LOG = LoggerFactory.getLogger(Mounts.class);

  private final CommandRunner runner;
  private final MountCalls kernel;
  private final IntermediateMounts intermediates;

  /**
   * @param scratch a directory for intermediate mounts, which older kernels need
   */
  public Mounts(CommandRunner runner, MountCalls kernel, Path scratch) {
    this.runner = runner;
    this.kernel = kernel;
    this.intermediates = new IntermediateMounts(scratch, this);
  }

  /** A system call. */
  @FunctionalInterface
  private interface Call {
    void run() throws IOException;
  }

  /** What is mounted now. */
  public MountTable table() {
    return MountTable.read();
  }

  /** Mounts a filesystem from a device. */
  public void mount(Path device, Path target, FilesystemType type, List<String> options) {
    List<String> argv = new ArrayList<>(List.of("mount", "--no-canonicalize", "-t", type.text()));
    if (!MountOptions.of(options).isReadOnly()) {
      // without this the tool mounts a device that cannot be written read-only
      argv.add("--rw");
    }
    if (!options.isEmpty()) {
      argv.addAll(List.of("-o", String.join(",", options)));
    }
    argv.addAll(List.of(device.toString(), target.toString()));
    syscallOrExec(
        () -> kernel.mount(device, target, type.text(), MountOptions.of(options)),
        Command.of(argv));
  }

  /**
   * Mounts with DAX or not at all. Old kernels know one spelling of the option, new ones the other,
   * and some filesystems mount without a warning when the device cannot do it.
   */
  public void mountWithDax(Path device, Path target, FilesystemType type, List<String> options) {
    try {
      mount(device, target, type, with(options, "dax=always"));
    } catch (ToolFailedException e) {
      if (e.reason() != ToolFailedException.Reason.EXIT_CODE) {
        throw e;
      }
      LOG.atInfo()
          .addKeyValue("device", device)
          .addKeyValue("error", e.getMessage())
          .log("Mount option dax=always was refused, trying dax.");
      mount(device, target, type, with(options, "dax"));
    }
    if (!table().at(target).map(MountEntry::hasDax).orElse(false)) {
      unmount(target);
      throw new DaxMissingException(device, type);
    }
  }

  /** Bind-mounts a directory on a directory, or a device node on a file. */
  public void bind(Path source, Path target) {
    syscallOrExec(
        () -> kernel.mount(source, target, "", MountOptions.BIND),
        Command.of("mount", "--no-canonicalize", "--bind", source.toString(), target.toString()));
  }

  /**
   * Bind-mounts with options of its own, of those that belong to one mount. The mount has them
   * before it is attached. A remount afterwards would change this mount namespace only: on a node
   * the driver has one of its own, and pods would get a mount without the options.
   */
  public void bind(Path source, Path target, List<String> options) {
    if (options.isEmpty()) {
      bind(source, target);
      return;
    }
    refuseIfCancelled("bind mount at " + target);
    try {
      kernel.bind(source, target, MountAttributes.of(options));
    } catch (IOException e) {
      LOG.atDebug()
          .addKeyValue("error", e.getMessage())
          .log("The kernel refused, using an intermediate mount.");
      intermediates.bind(source, target, options);
    }
  }

  /** Changes the options of a bind mount, in this mount namespace only. */
  void remount(Path target, List<String> options) {
    runner.run(
        Command.of(
            "mount",
            "--no-canonicalize",
            "-o",
            "remount,bind," + String.join(",", options),
            target.toString()));
  }

  /**
   * Removes intermediate mounts that a driver left that was killed; for the start of the driver.
   */
  public void removeIntermediates() {
    intermediates.removeAll();
  }

  public void unmount(Path target) {
    syscallOrExec(
        () -> kernel.unmount(target), Command.of("umount", "--no-canonicalize", target.toString()));
  }

  /**
   * Blocks writes to a filesystem, which is then consistent on its device.
   *
   * @return false if another program has frozen it
   */
  public boolean freeze(Path mountPoint) throws IOException {
    return kernel.freeze(mountPoint);
  }

  /** Ends a freeze. */
  public void thaw(Path mountPoint) {
    try {
      kernel.thaw(mountPoint);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot thaw the filesystem at %s, run \"fsfreeze --unfreeze\": %s"
              .formatted(mountPoint, e.getMessage()),
          e);
    }
  }

  /** Mounts and unmounts a filesystem, so that the kernel replays its log. */
  public void mountBriefly(Path device, FilesystemType type, List<String> options) {
    intermediates.mount(device, type, options);
  }

  private void syscallOrExec(Call call, Command command) {
    refuseIfCancelled(command.toString());
    try {
      call.run();
    } catch (IOException e) {
      LOG.atDebug()
          .addKeyValue("error", e.getMessage())
          .addKeyValue("command", command.program())
          .log("The kernel refused, running the command.");
      runner.run(command);
    }
  }

  private static void refuseIfCancelled(String operation) {
    if (Cancellation.current().map(Cancellation::isCancelled).orElse(false)) {
      throw ToolFailedException.cancelled(operation);
    }
  }

  private static List<String> with(List<String> options, String another) {
    List<String> all = new ArrayList<>(options);
    all.add(another);
    return all;
  }
}
