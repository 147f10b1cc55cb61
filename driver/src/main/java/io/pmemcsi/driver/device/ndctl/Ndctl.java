package io.pmemcsi.driver.device.ndctl;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** ndctl, which creates and removes namespaces. */
public final class Ndctl {
  /**
   * The name of namespaces that are created for volume groups; all others are volumes or not owned.
   */
  public static final String GROUP_NAMESPACE = "pmem-csi";

  /** Names a namespace by a device name that the kernel reuses. */
  private static final String DESTROY = "destroy-namespace";

  /** Names the namespace that is to be converted in the same way. */
  private static final String RECONFIG = "--reconfig=";

  private final CommandRunner runner;
  private final NamespaceAttributes attributes;
  private final OrphanedCommands commands;
  private final Runnable writableSys;

  public Ndctl(CommandRunner runner) {
    this(
        runner, NamespaceAttributes.SYSFS, OrphanedCommands.HERE, () -> WritableSys.ensure(runner));
  }

  /**
   * The same for trees of attributes and of processes elsewhere.
   *
   * @param writableSys ensures, before each change, that ndctl can write to /sys
   */
  public Ndctl(
      CommandRunner runner,
      NamespaceAttributes attributes,
      OrphanedCommands commands,
      Runnable writableSys) {
    this.runner = runner;
    this.attributes = attributes;
    this.commands = commands;
    this.writableSys = writableSys;
  }

  /** All regions of this node with all namespaces, in the order of their numbers. */
  public List<Region> regions() {
    try {
      Command list = Command.of("ndctl", "list", "--buses", "--regions", "--namespaces", "--idle");
      return new NdctlList(attributes).regions(runner.run(list).stdout());
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed("list persistent memory", e);
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("parse the output of ndctl", e);
    }
  }

  /**
   * Creates a namespace.
   *
   * @param rawBytes of memory, which must be whole units of the region
   * @param uuid chosen beforehand
   */
  public void create(Region region, NamespaceMode mode, long rawBytes, String name, UUID uuid) {
    if (commands.isRunningWith(DESTROY)) {
      throw new DeviceException.ToolFailed(
          "create namespace " + name,
          new IllegalStateException(
              "ndctl %s of an interrupted call still runs, and could remove the new namespace; call again when it has ended"
                  .formatted(DESTROY)));
    }
    List<String> command = new ArrayList<>(List.of("ndctl", "create-namespace"));
    command.add("--bus=" + region.bus());
    command.add("--region=" + region.device());
    command.add("--mode=" + mode.text());
    command.add("--size=" + rawBytes);
    command.add(OrphanedCommands.nameOption(name));
    command.addAll(
        switch (mode) {
          case FSDAX -> List.of("--map=dev", "--align=" + NamespaceMode.HUGE_PAGE);
          case SECTOR -> List.of("--sector-size=4096");
          case RAW, OTHER -> throw new IllegalArgumentException("volumes are never " + mode);
        });
    command.add(uuidOption(uuid));
    change(Command.of(command).within(Timeouts.NAMESPACE));
  }

  /** The first memory of a node may have appeared after the start of the driver. */
  private void change(Command command) {
    try {
      writableSys.run();
    } catch (FatalException e) {
      throw new DeviceException.ToolFailed("change namespaces", e);
    }
    runner.run(command);
  }

  /**
   * Throws while a command of a killed start or conversion may still change one of these
   * namespaces, or convert any: it would destroy what is put on them from now on.
   */
  public void refuseOrphans(List<Namespace> namespaces) {
    Stream.concat(
            commands.argument(argument -> argument.startsWith(RECONFIG + "namespace")).stream(),
            namespaces.stream()
                .flatMap(namespace -> namespace.blockDevice().stream())
                .flatMap(
                    device -> commands.writerOf(device).map(tool -> tool + " " + device).stream()))
        .findFirst()
        .ifPresent(
            orphan -> {
              throw new FatalException(
                  "a command of a killed start or conversion (%s) still runs and may change a namespace: try again when it has ended"
                      .formatted(orphan));
            });
  }

  /** The argument of ndctl that sets the UUID of a new namespace. */
  public static String uuidOption(UUID uuid) {
    return "--uuid=" + uuid;
  }

  /**
   * Turns a raw namespace into one with DAX; its content is lost. The name is not set: the regions
   * that need this have no labels to keep it in.
   */
  public void convertRaw(Region region, Namespace namespace) {
    change(
        Command.of(
                "ndctl",
                "create-namespace",
                "--force",
                "--mode=fsdax",
                "--bus=" + region.bus(),
                "--region=" + region.device(),
                RECONFIG + namespace.device())
            .within(Timeouts.NAMESPACE));
  }

  /** Whether the namespace of that device name still has the expected name. */
  public boolean isStill(Namespace namespace) {
    return attributes.text(namespace.device(), "alt_name").orElse("").equals(namespace.name());
  }

  /** Enables a namespace, which creates its block device. */
  public void enable(Namespace namespace) {
    change(Command.of("ndctl", "enable-namespace", namespace.device()));
  }

  /** Removes a namespace, but only if the one of that device name still is the expected one. */
  public void destroy(Namespace namespace) {
    if (!isStill(namespace)) {
      throw new DeviceException.ToolFailed(
          "remove namespace " + namespace.device(),
          new IllegalStateException("it is not named \"%s\"".formatted(namespace.name())));
    }
    change(Command.of("ndctl", DESTROY, "--force", namespace.device()));
  }
}
