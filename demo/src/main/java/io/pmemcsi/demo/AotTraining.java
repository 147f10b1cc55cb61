package io.pmemcsi.demo;

import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.ProbeRequest;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Makes the usual calls to a driver that runs only for this, so that its JVM records the classes
 * that they need. Only build/train-aot starts this.
 */
final class AotTraining {

  private AotTraining() {}

  /** The arguments are the socket of a driver and a directory to mount a volume in. */
  public static void main(String[] arguments) {
    try (CsiClient client = new CsiClient(Path.of(arguments[0]));
        Interruption interruption = Interruption.watch()) {
      greet(client);
      if (DriverDemo.blocker().isEmpty()) {
        liveThrough(client, Path.of(arguments[1]), interruption);
      }
    }
  }

  /** The calls of registrar, provisioner and probes. */
  private static void greet(CsiClient client) {
    client.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());
    client.identity().getPluginCapabilities(GetPluginCapabilitiesRequest.getDefaultInstance());
    client.identity().probe(ProbeRequest.getDefaultInstance());
    client.node().nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());
    client.node().nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance());
    client
        .controller()
        .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance());
    client.controller().listVolumes(ListVolumesRequest.getDefaultInstance());
    DriverDemo.available(client);
  }

  private static void liveThrough(CsiClient client, Path directory, Interruption interruption) {
    Narrator silent =
        new Narrator(
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    try (VolumeLife life = new VolumeLife(client, directory, silent, interruption)) {
      life.live();
    }
  }
}
