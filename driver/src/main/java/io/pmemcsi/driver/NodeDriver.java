package io.pmemcsi.driver;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.audit.Audit;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.audit.NodeState;
import io.pmemcsi.driver.audit.PeriodicAudit;
import io.pmemcsi.driver.csi.ControllerService;
import io.pmemcsi.driver.csi.CsiServer;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.csi.IdentityService;
import io.pmemcsi.driver.csi.NodeIdentity;
import io.pmemcsi.driver.csi.NodeService;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.node.Formatter;
import io.pmemcsi.driver.node.KataVolumes;
import io.pmemcsi.driver.node.PendingMounts;
import io.pmemcsi.driver.node.Publishing;
import io.pmemcsi.driver.node.Staging;
import io.pmemcsi.driver.node.Statistics;
import io.pmemcsi.driver.node.VolumeMounts;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateLock;
import io.pmemcsi.driver.volume.Quantity;
import io.pmemcsi.driver.volume.operations.VolumeLocks;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver on one node: its volumes behind a CSI socket, running until it is closed. */
public final class NodeDriver implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(NodeDriver.class);

  /** A driver that was just killed may need a moment to go. */
  private static final Duration PREDECESSOR = Duration.ofSeconds(5);

  private final StateLock lock;
  private final CsiServer server;
  private final Optional<HttpEndpoint> http;
  private final PeriodicAudit watch;
  private final AuditReport audit;

  private NodeDriver(
      StateLock lock,
      CsiServer server,
      Optional<HttpEndpoint> http,
      PeriodicAudit watch,
      AuditReport audit) {
    this.lock = lock;
    this.server = server;
    this.http = http;
    this.watch = watch;
    this.audit = audit;
  }

  /** Starts the driver; it answers when this returns. */
  public static NodeDriver start(DriverSettings given) {
    DriverSettings settings = inRealFolders(given);
    CommandRunner runner = new ProcessRunner();
    LoopCalls loops = new KernelLoops();
    DriverMetrics metrics = new DriverMetrics(settings.driverName(), settings.nodeId());
    Eraser eraser = new Eraser(metrics::erased);
    return start(
        settings,
        metrics,
        new HostAccess(runner, new DurableFiles(), new KernelMounts(), loops),
        DeviceManagers.real(settings.statePath(), runner, loops, eraser));
  }

  /** The same with parts of the outside world replaced. */
  static NodeDriver start(
      DriverSettings settings, DriverMetrics metrics, HostAccess outside, DeviceManagers managers) {
    try {
      StateLock lock = StateLock.take(settings.statePath(), PREDECESSOR);
      boolean started = false;
      try {
        NodeDriver driver = start(settings, metrics, outside, managers, lock);
        started = true;
        return driver;
      } finally {
        if (!started) {
          lock.close();
        }
      }
    } catch (StateException | DeviceException | ToolFailedException e) {
      throw new FatalException("failed to initialize driver: " + e.getMessage(), e);
    }
  }

  private static NodeDriver start(
      DriverSettings settings,
      DriverMetrics metrics,
      HostAccess outside,
      DeviceManagers managers,
      StateLock lock) {
    Ledger ledger = Ledger.open(settings.statePath(), outside.files());
    Devices devices =
        new Devices(
            managers.open(settings.deviceMode(), settings.pmemPercentage()),
            mode -> managers.open(mode, 0));
    AuditReport audit = Audit.repair(ledger, devices, NodeState.read(settings.statePath()));
    // from what the audit was told of the devices, so that they are asked for once
    devices.measure();
    tellIfThereIsNone(devices);
    audit.findings().forEach(PeriodicAudit::tell);
    metrics.audited(audit);
    VolumeLocks calls = new VolumeLocks();
    PeriodicAudit watch =
        new PeriodicAudit(settings.statePath(), ledger, devices, calls, metrics, audit);
    return serve(settings, metrics, outside, lock, ledger, devices, calls, watch, audit);
  }

  private static NodeDriver serve(
      DriverSettings settings,
      DriverMetrics metrics,
      HostAccess outside,
      StateLock lock,
      Ledger ledger,
      Devices devices,
      VolumeLocks calls,
      PeriodicAudit watch,
      AuditReport audit) {
    Path state = settings.statePath();
    CommandRunner runner = outside.commands();
    Mounts mounts = new Mounts(runner, outside.mounts(), state.resolve("binding"));
    DeviceUsers usages = new DeviceUsers(mounts);
    Signatures signatures = new Signatures(runner);
    LoopDevices loops = new LoopDevices(outside.loops());
    Volumes volumes = new Volumes(ledger, devices, signatures, calls, usages);
    Formatter formatter = new Formatter(volumes, signatures, usages, runner);
    VolumeMounts volumeMounts = new VolumeMounts(mounts, runner);
    KataVolumes kata =
        new KataVolumes(state, volumes, mounts, loops, new ImageFiles(runner, loops), signatures);
    Staging staging = new Staging(volumes, formatter, volumeMounts, usages, runner);
    Publishing publishing =
        new Publishing(
            volumes,
            formatter,
            volumeMounts,
            mounts,
            usages,
            kata,
            new PendingMounts(state, outside.files()));
    Statistics statistics = new Statistics(volumes, usages, kata, runner);

    NodeIdentity node = new NodeIdentity(settings.driverName(), settings.nodeId());
    boolean growing = settings.deviceMode() != DeviceMode.DIRECT;
    CsiServer server =
        CsiServer.start(
            settings.endpoint(),
            settings.nodeId(),
            metrics::called,
            List.of(
                new IdentityService(settings.driverName(), Version.current(), growing),
                new ControllerService(node, volumes, growing).quickToList(),
                new NodeService(node, staging, publishing, statistics, growing)));
    Optional<HttpEndpoint> http = Optional.empty();
    try {
      http =
          settings
              .metricsListen()
              .map(address -> listen(address, settings.metricsPath(), metrics, volumes));
    } finally {
      if (settings.metricsListen().isPresent() && http.isEmpty()) {
        server.stop(Duration.ZERO);
      }
    }
    tell(capacity(volumes));
    watch.start();
    return new NodeDriver(lock, server, http, watch, audit);
  }

  private static HttpEndpoint listen(
      ListenAddress address, String path, DriverMetrics metrics, Volumes volumes) {
    return HttpEndpoint.start(
        address,
        path,
        Pages.metrics(path, metrics.registry(), () -> metrics.amounts(capacity(volumes))));
  }

  /** Compares ledger, devices and mounts without a running driver and without changing anything. */
  public static AuditReport audit(DriverSettings given) {
    DriverSettings settings = inRealFolders(given);
    CommandRunner runner = new ProcessRunner();
    DeviceManagers managers = DeviceManagers.looking(settings.statePath(), runner);
    try {
      return Audit.look(
          Ledger.openForReading(settings.statePath()),
          new Devices(managers.open(settings.deviceMode(), 0), mode -> managers.open(mode, 0)),
          NodeState.read(settings.statePath()));
    } catch (StateException | DeviceException | ToolFailedException e) {
      throw new FatalException("failed to audit: " + e.getMessage(), e);
    }
  }

  /** The kernel tells of mounts and loop devices by their real paths. */
  private static DriverSettings inRealFolders(DriverSettings settings) {
    Path state = settings.statePath().toAbsolutePath();
    Path parent = state.getParent();
    try {
      if (Files.exists(state)) {
        return settings.withStatePath(state.toRealPath());
      }
      // one that is missing is made, or refused, by whoever opens it
      return parent != null && Files.isDirectory(parent)
          ? settings.withStatePath(parent.toRealPath().resolve(state.getFileName()))
          : settings;
    } catch (IOException e) {
      throw new FatalException(
          "-statePath=%s cannot be used: %s; name another folder".formatted(state, Reason.of(e)),
          e);
    }
  }

  /** What the comparison at the start has found. */
  public AuditReport startAudit() {
    return audit;
  }

  /** The port of the metrics endpoint, where there is one. */
  public OptionalInt metricsPort() {
    return http.map(there -> OptionalInt.of(there.port())).orElse(OptionalInt.empty());
  }

  /** Compares ledger, devices and mounts once more, as it is done every minute. */
  void lookAgain() {
    watch.look();
  }

  /** Lets calls that are under way finish and stops listening. Volumes stay as they are. */
  @Override
  public void close() {
    watch.close();
    server.close();
    http.ifPresent(HttpEndpoint::close);
    lock.close();
  }

  private static Optional<Capacity> capacity(Volumes volumes) {
    try {
      return Optional.of(volumes.capacity());
    } catch (CsiStatusException e) {
      return Optional.empty();
    }
  }

  /** The first thing that an administrator should read in the log of such a node. */
  private static void tellIfThereIsNone(Devices devices) {
    if (devices.hasNothing()) {
      LOG.atWarn().log("This node has no PMEM: no volume can be made here.");
    }
  }

  private static void tell(Optional<Capacity> capacity) {
    LOG.atInfo()
        .addKeyValue(
            "capacity",
            capacity
                .map(
                    known ->
                        "%s maximum volume size, %s available, %s managed, %s total"
                            .formatted(
                                Quantity.format(known.maxVolumeSize()),
                                Quantity.format(known.available()),
                                Quantity.format(known.managed()),
                                Quantity.format(known.total())))
                .orElse("unknown"))
        .log("PMEM-CSI ready.");
  }
}
