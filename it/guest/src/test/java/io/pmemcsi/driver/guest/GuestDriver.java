package io.pmemcsi.driver.guest;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.pmemcsi.driver.volume.VolumeId;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The real driver in the guest, and CSI calls to it in the words of the tests. */
final class GuestDriver implements AutoCloseable {
  private static final String PODS = "/run/pods/";
  private static final int CALL_SECONDS = 180;
  private final PmemGuest guest;
  private final GuestProgram program;
  private final ManagedChannel channel;

  private GuestDriver(PmemGuest guest, GuestProgram program, ManagedChannel channel) {
    this.guest = guest;
    this.program = program;
    this.channel = channel;
  }

  static GuestDriver start(PmemGuest guest, String mode, int pmemPercentage) {
    guest.run("mkdir -p " + PODS + "; rm -f " + GuestDriverMain.SOCKET);
    GuestProgram program =
        guest.start(
            "driver", GuestJava.commandLine(guest, GuestDriverMain.class, mode, pmemPercentage));
    int port = guest.forwardUnix(GuestDriverMain.SOCKET);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    GuestDriver driver = new GuestDriver(guest, program, channel);
    await()
        .atMost(Duration.ofMinutes(4))
        .pollInterval(Duration.ofMillis(500))
        .until(driver::answers);
    return driver;
  }

  /** Frees the NVDIMMs and the disk of whatever another test has left. */
  static void cleanUp(PmemGuest guest) {
    guest.run(
        """
        grep -E ' (/run/pods|/mnt|/disk/state)' /proc/mounts | cut -d' ' -f2 | tac | xargs -r umount
        losetup -D
        vgs --noheadings -o vg_name | xargs -r vgremove -q -f -y
        rm -rf /disk/state /run/pods
        """);
    guest.initLabels();
  }

  private boolean answers() {
    try {
      return !IdentityGrpc.newBlockingStub(channel)
          .withDeadlineAfter(20, SECONDS)
          .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
          .getName()
          .isEmpty();
    } catch (StatusRuntimeException e) {
      if (!program.isRunning()) {
        throw new AssertionError("the driver has ended:\n" + program.log(), e);
      }
      return false;
    }
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
    return controller().getCapacity(GetCapacityRequest.getDefaultInstance());
  }

  List<String> list() {
    return controller()
        .listVolumes(ListVolumesRequest.getDefaultInstance())
        .getEntriesList()
        .stream()
        .map(entry -> entry.getVolume().getVolumeId())
        .toList();
  }

  /** Stages and publishes a volume and gives the folder where a pod would see it. */
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
   * Publishes a volume for one pod.
   *
   * @param flag whether kubelet says that it is one, as all but the oldest releases do
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

  /** Whether files there are mapped directly, as the kernel itself says. */
  boolean hasDax(String folder) {
    String attributes =
        guest.run(
            "touch %s/probe && xfs_io -r -c 'statx -r' %s/probe | sed -n 's/^stat.attributes = //p'"
                .formatted(folder, folder));
    return (Long.decode(attributes) & 0x200000) != 0;
  }

  /** Devices, loops, mounts and ledger agree that there is no volume. */
  void assertNothingLeft() {
    assertThat(list()).as("volumes").isEmpty();
    String left =
        guest.run(
            """
            lvs --noheadings -o lv_name
            ndctl list -N | jq -r '.[]? | .name // .dev' | grep -vx pmem-csi
            losetup -n -O BACK-FILE
            grep -E ' (/run/pods|/disk/state)' /proc/mounts
            ls /run/pods | grep -v '^staging-'; rmdir /run/pods/staging-* 2> /dev/null
            find /disk/state -name '*.json' -o -name '*.tmp'
            true
            """);
    assertThat(left).as("what is left in the guest").isEmpty();
  }

  void disconnect() {
    channel.shutdownNow();
  }

  /** As kill -9 does it, in the middle of whatever it does. */
  void kill() {
    program.kill();
  }

  @Override
  public void close() {
    disconnect();
    program.stop(Duration.ofSeconds(60));
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
