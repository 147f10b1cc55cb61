package io.pmemcsi.driver;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.driver.audit.Audit;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.audit.NodeState;
import io.pmemcsi.driver.audit.PeriodicAudit;
import io.pmemcsi.driver.csi.CallInterceptor;
import io.pmemcsi.driver.csi.CsiServer;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.registry.NodeProvisioning;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateLock;
import io.pmemcsi.driver.volume.Quantity;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.AbandonedCreations;
import io.pmemcsi.driver.volume.operations.ContentCopier;
import io.pmemcsi.driver.volume.operations.VolumeLocks;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver on one node: its volumes behind a CSI socket, running until it is closed. */
public final class NodeDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDriver.class);

  private final StateLock lock;
  private final CsiServer server;
  private final Optional<HttpEndpoint> http;
  private final Optional<NodeProvisioning> central;
  private final PeriodicAudit periodicAudit;
  private final ContentCopier copier;
  private final AuditReport startAudit;

  private NodeDriver(
      StateLock lock,
      CsiServer server,
      Optional<HttpEndpoint> http,
      Optional<NodeProvisioning> central,
      PeriodicAudit periodicAudit,
      ContentCopier copier,
      AuditReport startAudit) {
    this.lock = lock;
    this.server = server;
    this.http = http;
    this.central = central;
    this.periodicAudit = periodicAudit;
    this.copier = copier;
    this.startAudit = startAudit;
  }

  /** Starts the driver; it serves when this returns. */
  public static NodeDriver start(DriverSettings given) {
    DriverSettings settings = withRealPath(given);
    HostAccess host = realHost();
    DriverMetrics metrics = new DriverMetrics(settings.driverName(), settings.nodeId());
    return start(
        settings, metrics, host, DeviceManagers.real(settings, host, new Eraser(metrics::erased)));
  }

  private static HostAccess realHost() {
    return new HostAccess(
        new ProcessRunner(), new DurableFiles(), new KernelMounts(), new KernelLoops());
  }

  /** The same with another way to the node. */
  static NodeDriver start(
      DriverSettings settings, DriverMetrics metrics, HostAccess host, DeviceManagers managers) {
    try {
      StateLock lock = StateLock.take(settings.statePath(), Timeouts.STATE_LOCK);
      boolean started = false;
      try {
        NodeDriver driver = start(settings, metrics, host, managers, lock);
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
      HostAccess host,
      DeviceManagers managers,
      StateLock lock) {
    StateDirectory.restrict(settings.statePath());
    Ledger ledger = Ledger.open(settings.statePath(), host.files());
    Devices devices =
        new Devices(
            managers.open(settings.deviceMode(), settings.pmemPercentage()),
            mode -> managers.open(mode, 0));
    HealthProbe health = new HealthProbe(host.commands());
    AuditReport audit =
        Audit.repair(ledger, devices, NodeState.read(settings.statePath()), health, host.files());
    // after the audit, which has just listed the devices: no command runs twice
    claim(ledger, devices);
    devices.measure();
    warnWithoutPmem(devices);
    audit.findings().forEach(PeriodicAudit::log);
    metrics.audited(audit);
    VolumeLocks locks = new VolumeLocks();
    Volumes volumes = new Volumes(ledger, devices, locks);
    CsiServices.Running services =
        new CsiServices(settings, host, ledger, devices, volumes).create();
    AbandonedCreations abandoned = new AbandonedCreations(volumes, services.deleter(), locks);
    PeriodicAudit periodicAudit =
        new PeriodicAudit(
            settings.statePath(),
            ledger,
            devices,
            health,
            locks::isHeld,
            abandoned::removeAt,
            metrics::audited,
            audit);
    IdleCollector collector = IdleCollector.ofJvm();
    CallInterceptor.CallRecorder recorder =
        (method, code, took) -> {
          metrics.called(method, code, took);
          collector.called();
        };
    CsiServer server =
        CsiServer.start(settings.endpoint(), settings.nodeId(), recorder, services.all());
    Optional<HttpEndpoint> http = Optional.empty();
    Optional<NodeProvisioning> central = Optional.empty();
    boolean started = false;
    try {
      http =
          settings
              .metricsListen()
              .map(address -> listen(address, settings.metricsPath(), metrics, devices));
      central =
          settings
              .registry()
              .map(
                  registry ->
                      NodeProvisioning.start(
                          settings.nodeId(),
                          registry,
                          new CallInterceptor(settings.nodeId(), recorder),
                          services.provisioning()));
      started = true;
    } finally {
      if (!started) {
        http.ifPresent(HttpEndpoint::close);
        server.stop(Duration.ZERO);
      }
    }
    logReady(devices.capacity());
    periodicAudit.start();
    return new NodeDriver(lock, server, http, central, periodicAudit, services.copier(), audit);
  }

  /** Devices of earlier releases do not say which driver they belong to. */
  private static void claim(Ledger ledger, Devices devices) {
    try {
      devices.current().claim(ledger.records().stream().map(VolumeRecord::id).toList());
    } catch (DeviceException e) {
      LOG.atWarn()
          .addKeyValue("error", e.getMessage())
          .log("Volumes of an earlier release are not marked as owned by this driver.");
    }
  }

  private static HttpEndpoint listen(
      ListenAddress address, String path, DriverMetrics metrics, Devices devices) {
    return HttpEndpoint.start(
        address,
        path,
        Pages.metrics(path, metrics.registry(), () -> metrics.amounts(devices.capacity())));
  }

  /** Compares ledger, devices and mounts without a running driver; changes nothing. */
  public static AuditReport audit(DriverSettings given) {
    DriverSettings settings = withRealPath(given);
    HostAccess host = realHost();
    DeviceManagers managers = DeviceManagers.readOnly(settings, host);
    try {
      return Audit.compare(
          Ledger.openForReading(settings.statePath()),
          new Devices(managers.open(settings.deviceMode(), 0), mode -> managers.open(mode, 0)),
          NodeState.read(settings.statePath()),
          new HealthProbe(host.commands()));
    } catch (StateException | DeviceException | ToolFailedException e) {
      throw new FatalException("failed to audit: " + e.getMessage(), e);
    }
  }

  /** The kernel reports mounts and loop devices by their real paths. */
  private static DriverSettings withRealPath(DriverSettings settings) {
    Path state = settings.statePath().toAbsolutePath();
    Path parent = state.getParent();
    try {
      if (Files.exists(state)) {
        return settings.withStatePath(state.toRealPath());
      }
      // one that is missing is created, or refused, when it is opened
      return parent != null && Files.isDirectory(parent)
          ? settings.withStatePath(parent.toRealPath().resolve(state.getFileName()))
          : settings;
    } catch (IOException e) {
      throw new FatalException(
          "-statePath=%s cannot be used: %s; name another directory".formatted(state, Reason.of(e)),
          e);
    }
  }

  /** What the audit at the start has found. */
  public AuditReport startAudit() {
    return startAudit;
  }

  /** The port of the metrics endpoint, where there is one. */
  public OptionalInt metricsPort() {
    return http.map(endpoint -> OptionalInt.of(endpoint.port())).orElse(OptionalInt.empty());
  }

  /** The node's part in central provisioning, where it has one. */
  Optional<NodeProvisioning> central() {
    return central;
  }

  /** Runs the periodic audit now. */
  void auditNow() {
    auditAfter(Duration.ZERO);
  }

  /** Runs the periodic audit as if so much time had passed. */
  void auditAfter(Duration time) {
    periodicAudit.runAt(System.nanoTime() + time.toNanos());
  }

  /**
   * Waits for in-flight calls and stops listening. Volumes stay as they are; a copy is interrupted,
   * so that its source does not stay frozen.
   */
  @Override
  public void close() {
    copier.stop();
    periodicAudit.close();
    central.ifPresent(NodeProvisioning::close);
    server.close();
    http.ifPresent(HttpEndpoint::close);
    lock.close();
  }

  private static void warnWithoutPmem(Devices devices) {
    if (devices.hasNothing()) {
      LOG.atWarn().log("This node has no PMEM: no volume can be created here.");
    }
  }

  private static void logReady(Devices.Measured capacity) {
    LOG.atInfo()
        .addKeyValue("capacity", capacity.known().map(NodeDriver::format).orElse("unknown"))
        .log("PMEM-CSI ready.");
  }

  private static String format(Capacity capacity) {
    return "%s maximum volume size, %s available, %s managed, %s total"
        .formatted(
            Quantity.format(capacity.maxVolumeSize()),
            Quantity.format(capacity.available()),
            Quantity.format(capacity.managed()),
            Quantity.format(capacity.total()));
  }
}
