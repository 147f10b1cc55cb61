package io.pmemcsi.demo;

import csi.v1.CapacityRange;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode;
import csi.v1.VolumeCapability.MountVolume;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** One volume over CSI. Its steps are undone in reverse, also when one fails. */
final class VolumeLife implements AutoCloseable {

  private static final long SIZE = 256L << 20;
  private static final String NAME = "pvc-demo";
  private static final String TEXT = "written into a pod's volume";
  private static final VolumeCapability CAPABILITY =
      VolumeCapability.newBuilder()
          .setMount(MountVolume.newBuilder().setFsType("ext4"))
          .setAccessMode(AccessMode.newBuilder().setMode(AccessMode.Mode.SINGLE_NODE_WRITER))
          .build();

  private final CsiClient client;
  private final Path staging;
  private final Path target;
  private final Narrator.Table table;
  private final Interruption interruption;
  private final Deque<Undo> undo = new ArrayDeque<>();

  /** The call that undoes a step. */
  private record Undo(String step, Runnable call) {}

  VolumeLife(CsiClient client, Path directory, Narrator narrator, Interruption interruption) {
    this.client = client;
    this.interruption = interruption;
    this.staging = directory.resolve("staging");
    this.target = directory.resolve("target");
    narrator.say("\nOne volume of 256 MiB, as the provisioner and kubelet would ask for it:");
    this.table = narrator.table(new String[] {"STEP", "TOOK", "AVAILABLE", "RESULT"}, 22, 9, 11);
  }

  void live() {
    table.row("(before)", "", amount(DriverDemo.available(client)), "");
    Volume volume = create();
    String id = volume.getVolumeId();
    stage(volume);
    publish(volume);
    Path file = target.resolve("data");
    step(
        "write",
        () -> {
          Files.writeString(file, TEXT);
          return "%d bytes".formatted(Files.size(file));
        });
    step(
        "read",
        () -> {
          String read = Files.readString(file, StandardCharsets.UTF_8);
          if (!read.equals(TEXT)) {
            throw new FatalException("the demo read \"%s\" from volume %s".formatted(read, id));
          }
          return "the same";
        });
  }

  private Volume create() {
    Volume[] created = new Volume[1];
    step(
        "CreateVolume",
        () -> {
          created[0] =
              client
                  .controller()
                  .createVolume(
                      CreateVolumeRequest.newBuilder()
                          .setName(NAME)
                          .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(SIZE))
                          .addVolumeCapabilities(CAPABILITY)
                          .build())
                  .getVolume();
          return created[0].getVolumeId();
        });
    String id = created[0].getVolumeId();
    undo.push(
        new Undo(
            "DeleteVolume",
            () ->
                client
                    .controller()
                    .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(id).build())));
    return created[0];
  }

  private void stage(Volume volume) {
    step(
        "NodeStageVolume",
        () -> {
          Files.createDirectories(staging);
          client
              .node()
              .nodeStageVolume(
                  NodeStageVolumeRequest.newBuilder()
                      .setVolumeId(volume.getVolumeId())
                      .setStagingTargetPath(staging.toString())
                      .setVolumeCapability(CAPABILITY)
                      .putAllVolumeContext(volume.getVolumeContextMap())
                      .build());
          return "ext4 created and mounted";
        });
    undo.push(
        new Undo(
            "NodeUnstageVolume",
            () ->
                client
                    .node()
                    .nodeUnstageVolume(
                        NodeUnstageVolumeRequest.newBuilder()
                            .setVolumeId(volume.getVolumeId())
                            .setStagingTargetPath(staging.toString())
                            .build())));
  }

  private void publish(Volume volume) {
    step(
        "NodePublishVolume",
        () -> {
          client
              .node()
              .nodePublishVolume(
                  NodePublishVolumeRequest.newBuilder()
                      .setVolumeId(volume.getVolumeId())
                      .setStagingTargetPath(staging.toString())
                      .setTargetPath(target.toString())
                      .setVolumeCapability(CAPABILITY)
                      .putAllVolumeContext(volume.getVolumeContextMap())
                      .build());
          return "mounted for the pod";
        });
    undo.push(
        new Undo(
            "NodeUnpublishVolume",
            () ->
                client
                    .node()
                    .nodeUnpublishVolume(
                        NodeUnpublishVolumeRequest.newBuilder()
                            .setVolumeId(volume.getVolumeId())
                            .setTargetPath(target.toString())
                            .build())));
  }

  @Override
  public void close() {
    while (!undo.isEmpty()) {
      Undo back = undo.pop();
      report(
          back.step(),
          () -> {
            back.call().run();
            return "";
          });
    }
  }

  /** Runs one step and returns its result. */
  @FunctionalInterface
  private interface Step {
    String run() throws IOException;
  }

  private void step(String name, Step step) {
    interruption.check();
    report(name, step);
  }

  private void report(String name, Step step) {
    long start = System.nanoTime();
    try {
      String result = step.run();
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      table.row(name, Narrator.seconds(took), amount(DriverDemo.available(client)), result);
    } catch (IOException e) {
      throw new FatalException(
          "the demo cannot continue at %s: %s; %s"
              .formatted(name, Reason.withFile(e), DemoDirectory.REMEDY),
          e);
    }
  }

  private static String amount(long bytes) {
    return String.format(Locale.ROOT, "%,d MiB", bytes >> 20);
  }
}
