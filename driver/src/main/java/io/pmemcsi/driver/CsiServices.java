package io.pmemcsi.driver;

import io.grpc.BindableService;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.csi.ControllerService;
import io.pmemcsi.driver.csi.IdentityService;
import io.pmemcsi.driver.csi.NodeIdentity;
import io.pmemcsi.driver.csi.NodeService;
import io.pmemcsi.driver.csi.SnapshotCalls;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.node.Expansion;
import io.pmemcsi.driver.node.Formatter;
import io.pmemcsi.driver.node.KataVolumes;
import io.pmemcsi.driver.node.PendingMounts;
import io.pmemcsi.driver.node.ProtectedPaths;
import io.pmemcsi.driver.node.Publishing;
import io.pmemcsi.driver.node.Staging;
import io.pmemcsi.driver.node.Statistics;
import io.pmemcsi.driver.node.VolumeMounts;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.volume.operations.ContentCopier;
import io.pmemcsi.driver.volume.operations.PendingFreezes;
import io.pmemcsi.driver.volume.operations.SnapshotCreator;
import io.pmemcsi.driver.volume.operations.VolumeCloner;
import io.pmemcsi.driver.volume.operations.VolumeCreator;
import io.pmemcsi.driver.volume.operations.VolumeDeleter;
import io.pmemcsi.driver.volume.operations.VolumeExpander;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.Ledger;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/** Wires the CSI services to the parts below them. */
final class CsiServices {
  private final DriverSettings settings;
  private final HostAccess host;
  private final Ledger ledger;
  private final Devices devices;
  private final Volumes volumes;

  CsiServices(
      DriverSettings settings, HostAccess host, Ledger ledger, Devices devices, Volumes volumes) {
    this.settings = settings;
    this.host = host;
    this.ledger = ledger;
    this.devices = devices;
    this.volumes = volumes;
  }

  /** The services of one node, which are stateless towards their callers. */
  record Running(
      BindableService identity,
      BindableService controller,
      BindableService node,
      VolumeDeleter deleter,
      ContentCopier copier) {

    List<BindableService> all() {
      return List.of(identity, controller, node);
    }

    /** What the central controller calls. */
    List<BindableService> provisioning() {
      return List.of(identity, controller);
    }
  }

  Running create() {
    Path state = settings.statePath();
    CommandRunner runner = host.commands();
    Mounts mounts =
        new Mounts(runner, host.mounts(), StateDirectory.Part.INTERMEDIATE_MOUNTS.in(state));
    mounts.removeIntermediates();
    DeviceUsers users = new DeviceUsers(mounts);
    Signatures signatures = new Signatures(runner);
    LoopDevices loops = new LoopDevices(host.loops());
    VolumeCreator creator = new VolumeCreator(volumes, ledger, devices, users, signatures);
    VolumeDeleter deleter = new VolumeDeleter(volumes, ledger, devices, users);
    VolumeExpander expander = new VolumeExpander(volumes, ledger, devices);
    ContentCopier copier =
        new ContentCopier(
            volumes, users, signatures, mounts, runner, new PendingFreezes(state, host.files()));
    copier.thawInterrupted();
    Formatter formatter = new Formatter(volumes, signatures, users, runner);
    VolumeMounts volumeMounts = new VolumeMounts(mounts, runner);
    KataVolumes kata =
        new KataVolumes(state, volumes, mounts, loops, new ImageFiles(runner, loops), signatures);
    ProtectedPaths paths = new ProtectedPaths(state, settings.endpoint().socket());
    Publishing publishing =
        new Publishing(
            volumes,
            creator,
            deleter,
            formatter,
            volumeMounts,
            mounts,
            users,
            kata,
            new PendingMounts(state, host.files()),
            paths);
    NodeIdentity node = new NodeIdentity(settings.driverName(), settings.nodeId());
    boolean expandable = settings.deviceMode().isExpandable();
    return new Running(
        new IdentityService(settings.driverName(), Version.current(), expandable),
        new ControllerService(
                node,
                volumes,
                creator,
                new VolumeCloner(volumes, creator, copier),
                deleter,
                new SnapshotCalls(
                    volumes,
                    new SnapshotCreator(volumes, creator, copier, Clock.systemUTC()),
                    deleter),
                settings.deviceMode())
            .withCachedList(),
        new NodeService(
            node,
            new Staging(volumes, formatter, volumeMounts, users, paths, runner),
            publishing,
            new Statistics(volumes, users, mounts, kata, new HealthProbe(runner)),
            new Expansion(volumes, expander, users, runner),
            expandable),
        deleter,
        copier);
  }
}
