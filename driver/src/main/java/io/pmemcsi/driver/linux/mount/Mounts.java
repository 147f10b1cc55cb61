package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts and unmounts. The kernel is asked directly, which takes a fraction of the time that it
 * takes to start a tool. Where it refuses, the tool is asked, too: it knows options that the kernel
 * does not, and says in words what is wrong.
 */
public final class Mounts {

  private static final Logger LOG = LoggerFactory.getLogger(Mounts.class);

  /**
   * Options that belong to one mount and not to the filesystem, so that a bind mount needs them.
   */
  private static final Set<String> OF_THE_MOUNT =
      Set.of(
          "ro",
          "nosuid",
          "suid",
          "nodev",
          "dev",
          "noexec",
          "exec",
          "noatime",
          "atime",
          "nodiratime",
          "diratime",
          "relatime",
          "norelatime",
          "strictatime",
          "nosymfollow");

  private final CommandRunner runner;
  private final MountCalls kernel;

  public Mounts(CommandRunner runner, MountCalls kernel) {
    this.runner = runner;
    this.kernel = kernel;
  }

  /** A call of the kernel. */
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
      // without this the tool takes a device that cannot be written for a wish to read only
      argv.add("--rw");
    }
    if (!options.isEmpty()) {
      argv.addAll(List.of("-o", String.join(",", options)));
    }
    argv.addAll(List.of(device.toString(), target.toString()));
    quickly(
        () -> kernel.mount(device, target, type.text(), MountOptions.of(options)),
        Command.of(argv));
  }

  /**
   * Mounts with DAX or not at all. Old kernels know one spelling of the option, new ones want the
   * other, and some filesystems mount without a word when the device cannot do it.
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

  /** Shows what is at one path at another one, too: folders, or a device node on a file. */
  public void bind(Path source, Path target) {
    quickly(
        () -> kernel.mount(source, target, "", MountOptions.BIND),
        Command.of("mount", "--no-canonicalize", "--bind", source.toString(), target.toString()));
  }

  /** Gives a bind mount options of its own. */
  public void remountBound(Path target, List<String> options) {
    runner.run(
        Command.of(
            "mount",
            "--no-canonicalize",
            "-o",
            "remount,bind," + String.join(",", options),
            target.toString()));
  }

  /** Those of the options that a bind mount needs for itself. */
  public static List<String> ofTheMount(List<String> options) {
    return options.stream().filter(OF_THE_MOUNT::contains).toList();
  }

  public void unmount(Path target) {
    quickly(
        () -> kernel.unmount(target), Command.of("umount", "--no-canonicalize", target.toString()));
  }

  private void quickly(Call call, Command otherwise) {
    if (Cancellation.current().map(Cancellation::isCancelled).orElse(false)) {
      throw ToolFailedException.cancelled(otherwise);
    }
    try {
      call.run();
    } catch (IOException e) {
      LOG.atDebug().addKeyValue("error", e.getMessage()).log("The kernel refuses.");
      runner.run(otherwise);
    }
  }

  private static List<String> with(List<String> options, String another) {
    List<String> all = new ArrayList<>(options);
    all.add(another);
    return all;
  }
}
