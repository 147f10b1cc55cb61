package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The commands of LVM that this driver uses. */
final class Lvm {
  private static final Logger LOG = LoggerFactory.getLogger(Lvm.class);

  private final CommandRunner runner;

  Lvm(CommandRunner runner) {
    this.runner = runner;
  }

  /** The groups of those names, as far as they can be read. */
  Groups groups(List<String> names) {
    if (names.isEmpty()) {
      return new Groups(List.of(), List.of()); // LVM would report everything on the node
    }
    try {
      return new Groups(report(names), List.of());
    } catch (DeviceException.ToolFailed e) {
      return oneByOne(names, e);
    }
  }

  /** A group that does not exist fails the report for all; the others must stay usable. */
  private Groups oneByOne(List<String> names, DeviceException.ToolFailed failure) {
    List<LvmReport.Group> read = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    if (!isAnswer(failure)) {
      throw failure;
    }
    for (String name : names) {
      try {
        read.addAll(report(List.of(name)));
      } catch (DeviceException.ToolFailed e) {
        if (!isAnswer(e)) {
          throw e;
        }
        unreadable.add(name);
      }
    }
    if (read.isEmpty()) {
      throw failure;
    }
    LOG.atWarn()
        .addKeyValue("groups", unreadable)
        .addKeyValue("error", failure.getMessage())
        .log("Volume groups cannot be read.");
    return new Groups(read, unreadable);
  }

  private static boolean isAnswer(DeviceException.ToolFailed failure) {
    return failure.getCause() instanceof ToolFailedException e
        && LvmFailure.classify(e) != LvmFailure.NO_ANSWER;
  }

  private List<LvmReport.Group> report(List<String> names) {
    List<String> command =
        new ArrayList<>(List.of("lvm", "fullreport", "--reportformat=json", "--units=b"));
    command.add("--nosuffix");
    columns(command, "vg", "vg_name,vg_size,vg_free,vg_extent_size");
    columns(command, "lv", "lv_name,lv_path,lv_size,lv_tags");
    columns(command, "pv", "pv_name,vg_name");
    columns(command, "pvseg", "pvseg_start");
    columns(command, "seg", "seg_start");
    command.addAll(names);
    return report(Command.of(command)).groups();
  }

  /** All devices that LVM uses. */
  List<LvmReport.PhysicalVolume> physicalVolumes() {
    return report(
            Command.of(
                "pvs", "--reportformat=json", "--units=b", "--nosuffix", "-opv_name,vg_name"))
        .physicalVolumes();
  }

  /** Extents begin at huge pages, so that the pages of files can be huge. */
  void createGroup(String group, List<Path> devices) {
    changeGroup("vgcreate", group, devices);
  }

  void extendGroup(String group, List<Path> devices) {
    changeGroup("vgextend", group, devices);
  }

  /** At least one: without a name LVM would activate everything on the node. */
  void activateGroups(List<String> groups) {
    runner.run(
        Command.of(Stream.concat(Stream.of("vgchange", "--activate=y"), groups.stream()).toList()));
  }

  /** Does not touch the content: the caller wipes the volume before its first use. */
  void createVolume(String group, String name, long bytes, OwnerTag owner) {
    if (OrphanedCommands.HERE.isRunningWith(group + "/" + name)) {
      throw new DeviceException.ToolFailed(
          "create the logical volume " + name,
          new IllegalStateException(
              "an LVM command of an interrupted call still runs for %s/%s, and could remove the new volume; call again when it has ended"
                  .formatted(group, name)));
    }
    runner.run(
        Command.of(
            "lvcreate",
            "--yes",
            "-Zn",
            "-Wn",
            "--size=" + bytes + "b",
            OrphanedCommands.nameOption(name),
            "--addtag=" + owner.text(),
            group));
  }

  void extendVolume(String group, String name, long bytes) {
    runner.run(Command.of("lvextend", "--size=" + bytes + "b", group + "/" + name));
  }

  void activateVolume(String group, String name) {
    runner.run(Command.of("lvchange", "--activate=y", group + "/" + name));
  }

  /** Tags volumes, each as {@code group/name}; at least one. */
  void tagVolumes(List<String> volumes, OwnerTag owner) {
    runner.run(
        Command.of(
            Stream.concat(Stream.of("lvchange", "--addtag=" + owner.text()), volumes.stream())
                .toList()));
  }

  void removeVolume(String group, String name) {
    runner.run(Command.of("lvremove", "--force", "--yes", group + "/" + name));
  }

  /** Old signatures, of LVM too, would become valid again with a new namespace in their place. */
  void wipeSignatures(Path device) {
    runner.run(Command.of("wipefs", "--all", "--force", device.toString()));
  }

  /** LVM refuses a device with a signature on it, because nothing here confirms to wipe it. */
  private void changeGroup(String program, String group, List<Path> devices) {
    List<String> command = new ArrayList<>(List.of(program));
    command.add("--dataalignment=" + NamespaceMode.HUGE_PAGE + "b");
    command.add(group);
    devices.forEach(device -> command.add(device.toString()));
    runner.run(Command.of(command));
  }

  private static void columns(List<String> command, String kind, String columns) {
    command.add("--configreport=" + kind);
    command.add("-o" + columns);
  }

  private LvmReport report(Command command) {
    try {
      return LvmReport.parse(runner.run(command).stdout());
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed("read the LVM report", e);
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("parse the LVM report", e);
    }
  }
}
