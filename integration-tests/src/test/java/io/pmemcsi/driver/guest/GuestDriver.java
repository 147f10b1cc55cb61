package io.pmemcsi.driver.guest;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCondition;
import csi.v1.VolumeContentSource;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The real driver in the guest, and CSI calls with the parameters that tests use. */
final class GuestDriver implements AutoCloseable {
  static final String PODS = "/run/pods/";
  static final String SOCKET = "/run/csi.sock";
  static final String STATE_FLAG = "-statePath=/disk/state";
  static final String SECOND_FLAGS = "-drivername=second.example.com -statePath=/disk/second";
  static final Duration TIMEOUT = Duration.ofMinutes(4);
  private static final VolumeCapability BLOCK =
      mount("").toBuilder().setBlock(VolumeCapability.BlockVolume.getDefaultInstance()).build();
  private static final int METRICS_PORT = 10010;
  private static final int CALL_SECONDS = 600;
  private final PmemGuest guest;
  private final GuestProgram program;
  private final ManagedChannel channel;

  private GuestDriver(PmemGuest guest, GuestProgram program, ManagedChannel channel) {
    this.guest = guest;
    this.program = program;
    this.channel = channel;
  }

  /** Starts the packed program with its flags. */
  static GuestDriver start(PmemGuest guest, String mode, int pmemPercentage) {
    PackagedProgram.install(guest);
    int verbosity = Math.max(3, Integer.getInteger("pmem-csi.v", 0));
    return start(
        guest,
        "%s -mode=node -deviceManager=%s %s -endpoint=unix://%s -nodeid=guest -v=%d %s"
            .formatted(
                PackagedProgram.DRIVER,
                mode,
                STATE_FLAG,
                SOCKET,
                verbosity,
                "-metricsListen=127.0.0.1:%d -pmemPercentage=%d"
                    .formatted(METRICS_PORT, pmemPercentage)));
  }

  /** A driver with another name and another state directory beside the first one. */
  static GuestDriver startSecond(PmemGuest guest, String mode, int pmemPercentage) {
    String socket = "/run/second.sock";
    return start(
        guest,
        "second",
        socket,
        "%s -mode=node -deviceManager=%s %s -endpoint=unix://%s -nodeid=guest -pmemPercentage=%d"
            .formatted(PackagedProgram.DRIVER, mode, SECOND_FLAGS, socket, pmemPercentage));
  }

  /** The same for a test program that listens on the same socket. */
  static GuestDriver start(PmemGuest guest, String commandLine) {
    return start(guest, "driver", SOCKET, commandLine);
  }

  private static GuestDriver start(
      PmemGuest guest, String programName, String socket, String commandLine) {
    guest.run("mkdir -p " + PODS + "; rm -f " + socket);
    GuestProgram program = guest.start(programName, commandLine);
    program.awaitSocket(socket, TIMEOUT);
    int port = guest.forwardUnix(socket);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    GuestDriver driver = new GuestDriver(guest, program, channel);
    String name =
        IdentityGrpc.newBlockingStub(channel)
            .withDeadlineAfter(CALL_SECONDS, SECONDS)
            .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
            .getName();
    assertThat(name).isNotEmpty();
    return driver;
  }

  /** Removes leftovers of other tests from the NVDIMMs and the disk. */
  static void cleanUp(PmemGuest guest) {
    guest.run(
        """
        grep -E ' (/run/pods|/mnt|/disk/state)' /proc/mounts | cut -d' ' -f2 | tac | xargs -r umount
        losetup -D
        vgs --noheadings -o vg_name | xargs -r vgremove -q -f -y
        rm -rf /disk/state /disk/second /run/pods
        """);
    guest.initLabels();
  }

  ControllerGrpc.ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(channel).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  NodeGrpc.NodeBlockingStub node() {
    return NodeGrpc.newBlockingStub(channel).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  Volume create(String name, long bytes, Map<String, String> parameters) {
    return controller()
        .createVolume(
            CreateVolumeRequest.newBuilder()
                .setName(name)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .addVolumeCapabilities(mount("ext4"))
                .putAllParameters(parameters)
                .build())
        .getVolume();
  }

  Snapshot snapshot(String name, Volume volume) {
    return controller()
        .createSnapshot(
            CreateSnapshotRequest.newBuilder()
                .setName(name)
                .setSourceVolumeId(volume.getVolumeId())
                .build())
        .getSnapshot();
  }

  void delete(Snapshot snapshot) {
    controller()
        .deleteSnapshot(
            DeleteSnapshotRequest.newBuilder().setSnapshotId(snapshot.getSnapshotId()).build());
  }

  /** Creates a volume of the size of a snapshot with its content. */
  Volume restore(String name, Snapshot snapshot, Map<String, String> parameters) {
    return controller()
        .createVolume(
            CreateVolumeRequest.newBuilder()
                .setName(name)
                .addVolumeCapabilities(mount("ext4"))
                .putAllParameters(parameters)
                .setVolumeContentSource(
                    VolumeContentSource.newBuilder()
                        .setSnapshot(
                            VolumeContentSource.SnapshotSource.newBuilder()
                                .setSnapshotId(snapshot.getSnapshotId())))
                .build())
        .getVolume();
  }

  /** Creates a volume of the size of another one with its content. */
  Volume clone(String name, Volume volume, Map<String, String> parameters) {
    return controller()
        .createVolume(
            CreateVolumeRequest.newBuilder()
                .setName(name)
                .addVolumeCapabilities(mount("ext4"))
                .putAllParameters(parameters)
                .setVolumeContentSource(
                    VolumeContentSource.newBuilder()
                        .setVolume(
                            VolumeContentSource.VolumeSource.newBuilder()
                                .setVolumeId(volume.getVolumeId())))
                .build())
        .getVolume();
  }

  void delete(Volume volume) {
    deleteById(volume.getVolumeId());
  }

  void delete(String name) {
    deleteById(VolumeId.fromName(name).value());
  }

  private void deleteById(String id) {
    controller().deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(id).build());
  }

  GetCapacityResponse capacity() {
    return capacity(Map.of());
  }

  /** The capacity for volumes of a storage class with these parameters. */
  GetCapacityResponse capacity(Map<String, String> parameters) {
    return controller()
        .getCapacity(GetCapacityRequest.newBuilder().putAllParameters(parameters).build());
  }

  List<String> list() {
    return controller()
        .listVolumes(ListVolumesRequest.getDefaultInstance())
        .getEntriesList()
        .stream()
        .map(entry -> entry.getVolume().getVolumeId())
        .toList();
  }

  /** Stages and publishes a volume and returns the target directory. */
  String mount(Volume volume, String type) {
    String staging = PODS + "staging-" + volume.getVolumeId();
    String target = PODS + "target-" + volume.getVolumeId();
    node()
        .nodeStageVolume(
            NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging)
                .setVolumeCapability(mount(type))
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
    node()
        .nodePublishVolume(
            NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging)
                .setTargetPath(target)
                .setVolumeCapability(mount(type))
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
    return target;
  }

  void unmount(Volume volume) {
    unpublish(volume.getVolumeId(), PODS + "target-" + volume.getVolumeId());
    unstage(volume.getVolumeId());
  }

  String stagingPath(Volume volume) {
    return PODS + "staging-" + volume.getVolumeId();
  }

  void unstage(String volumeId) {
    node()
        .nodeUnstageVolume(
            NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(volumeId)
                .setStagingTargetPath(PODS + "staging-" + volumeId)
                .build());
  }

  /**
   * Publishes an ephemeral volume.
   *
   * @param flag whether to set the ephemeral flag, as all but the oldest kubelets do
   */
  String publishEphemeral(String handle, String type, String size, boolean flag) {
    String target = PODS + handle;
    NodePublishVolumeRequest.Builder request =
        NodePublishVolumeRequest.newBuilder()
            .setVolumeId(handle)
            .setTargetPath(target)
            .setVolumeCapability(mount(type))
            .putVolumeContext("eraseafter", "false")
            .putVolumeContext("size", size);
    if (flag) {
      request.putVolumeContext("csi.storage.k8s.io/ephemeral", "true");
    }
    node().nodePublishVolume(request.build());
    return target;
  }

  void unpublish(String volumeId, String target) {
    node()
        .nodeUnpublishVolume(
            NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(volumeId)
                .setTargetPath(target)
                .build());
  }

  /** What NodeGetVolumeStats reports about the health of a volume. */
  VolumeCondition condition(Volume volume, String path) {
    return node()
        .nodeGetVolumeStats(
            NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path)
                .build())
        .getVolumeCondition();
  }

  /** The metrics that Prometheus would scrape. */
  String metrics() {
    URI address =
        URI.create("http://127.0.0.1:%d/metrics".formatted(guest.forwardTcp(METRICS_PORT)));
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(address).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      throw new UncheckedIOException("no metrics from the driver", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading metrics", e);
    }
  }

  /** Publishes a raw block volume and returns the target path. */
  String publishBlock(Volume volume) {
    String target = PODS + "raw-" + volume.getVolumeId();
    node()
        .nodePublishVolume(
            NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(stagingPath(volume))
                .setTargetPath(target)
                .setVolumeCapability(BLOCK)
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
    return target;
  }

  /** Expands a mounted or published volume and returns its size. */
  long expand(Volume volume, long bytes, String path) {
    return node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .build())
        .getCapacityBytes();
  }

  /** The log of the driver since its first start in this guest. */
  String log() {
    return program.log();
  }

  /** The findings that a test program reported at its last start. */
  String findings() {
    return log()
        .lines()
        .filter(line -> line.startsWith("findings at start: "))
        .reduce("", (_, last) -> last);
  }

  /** Whether the kernel reports DAX for files in the directory. */
  boolean hasDax(String directory) {
    String attributes =
        guest
            .run(": >> %1$s/probe && xfs_io -r -c 'statx -r' %1$s/probe".formatted(directory))
            .lines()
            .filter(line -> line.startsWith("stat.attributes = "))
            .map(line -> line.substring("stat.attributes = ".length()))
            .findFirst()
            .orElseThrow();
    return (Long.decode(attributes) & 0x200000) != 0;
  }

  /**
   * Asserts that there are no volumes, devices, loop devices, mounts and ledger entries. Uses
   * builtins of bash: this runs after every test, and each process takes a tenth of a second.
   */
  void assertNothingLeft() {
    assertThat(list()).as("volumes").isEmpty();
    String left =
        guest.run(
            """
            shopt -s nullglob globstar
            lvs --noheadings -o lv_name
            for n in /sys/bus/nd/devices/namespace*; do
              read -r size < $n/size; name=; [ ! -e $n/alt_name ] || read -r name < $n/alt_name
              [ $size = 0 ] || [ "$name" = pmem-csi ] || echo "namespace ${name:-$n}"
            done
            for f in /sys/block/loop*/loop/backing_file; do read -r file < $f; echo "loop $file"; done
            while read -r _ place _; do
              case $place in /run/pods* | /disk/state*) echo "mount $place" ;; esac
            done < /proc/mounts
            staging=(/run/pods/staging-*); [ ${#staging[@]} = 0 ] || rmdir "${staging[@]}"
            for f in /run/pods/* /disk/state/**/*.json /disk/state/**/*.tmp; do echo "file $f"; done
            true
            """);
    assertThat(left).as("leftovers in the guest").isEmpty();
  }

  void disconnect() {
    channel.shutdownNow();
  }

  /** Kills the driver with SIGKILL. */
  void kill() {
    program.kill();
  }

  @Override
  public void close() {
    disconnect();
    if (program.isRunning()) {
      program.stop(TIMEOUT);
    }
  }

  static VolumeCapability mount(String type) {
    return VolumeCapability.newBuilder()
        .setMount(VolumeCapability.MountVolume.newBuilder().setFsType(type))
        .setAccessMode(
            VolumeCapability.AccessMode.newBuilder()
                .setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER))
        .build();
  }
}
