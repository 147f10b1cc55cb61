package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.ProbeRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Log messages of calls at each log level. */
class LogIT extends SharedDriver {

  private final ByteArrayOutputStream log = new ByteArrayOutputStream();

  @AfterEach
  void silenceTheLog() {
    Logging.configure(LogFormat.TEXT, new Verbosity(0), OutputStream.nullOutputStream());
  }

  @Test
  void callsAndTheirFailuresAreLoggedInProduction() {
    logAt(3);

    driver.identity().probe(ProbeRequest.getDefaultInstance());
    useAVolume();
    assertThatCall(() -> csi.unstage(UNKNOWN, staging())).fails(Status.Code.NOT_FOUND, UNKNOWN);

    assertThat(log())
        .containsPattern(
            "(?m)^I.*Call started\\. method=\"csi.v1.Node/NodeStageVolume\""
                + " request-counter=\"?\\d+")
        .containsPattern(
            "(?m)^E.*Call failed\\. method=\"csi.v1.Node/NodeUnstageVolume\""
                + " request-counter=\"?\\d+.*"
                + UNKNOWN)
        .contains("Volume formatted.")
        .doesNotContain("Command started.", "Request.", "csi.v1.Identity/Probe");
  }

  @Test
  void commandsAreLoggedOneLevelHigher() {
    logAt(4);

    useAVolume();

    assertThat(log())
        .containsPattern("Command started\\. command=\"mkfs.ext4 .*/dev/loop")
        .containsPattern("Command ended\\. command=\"mkfs.ext4\" exit=\"?0")
        .doesNotContain("Command output.", "Request.");
  }

  @Test
  void requestsResponsesAndOutputAreLoggedForDebuggingWithoutSecrets() {
    logAt(5);

    useAVolume();

    assertThat(log())
        .containsPattern("Request\\. .*" + staging())
        .containsPattern("Response\\. .*pvc-logged")
        .containsPattern("Command output\\. command=\"resize2fs\" stderr=\"resize2fs ")
        .doesNotContain("hunter2", "password");
  }

  @Test
  void aKataImageThatIsMountedWithoutDaxIsLogged() {
    logAt(3);
    Volume volume =
        csi.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
    csi.stage(volume, staging(), mount("ext4"));
    csi.publish(volume, staging(), target(), mount("ext4"));

    assertThat(log())
        .containsPattern(
            "Image file mounted without DAX.* volume=\"%s\" target=\"%s\""
                .formatted(volume.getVolumeId(), target()));
    csi.unpublish(volume.getVolumeId(), target());
    csi.unstage(volume.getVolumeId(), staging());
  }

  /** gRPC logs through java.util.logging. */
  @Test
  void librariesLogInTheSameFormat() {
    log.reset();
    Logging.configure(LogFormat.JSON, new Verbosity(3), log);

    java.util.logging.Logger.getLogger("io.grpc.internal.SerializingExecutor")
        .log(java.util.logging.Level.SEVERE, "Exception", new IllegalStateException("boom"));

    assertThat(log().lines()).singleElement().asString().startsWith("{").contains("boom");
  }

  @Test
  void longRequestsAreNotLoggedInFull() {
    logAt(5);
    assertThatCall(() -> csi.unstage("x".repeat(3 << 20), staging())).fails(Status.Code.NOT_FOUND);

    assertThat(log()).contains("characters)").hasSizeLessThan(64 << 10);
  }

  private void logAt(int level) {
    log.reset();
    Logging.configure(LogFormat.TEXT, new Verbosity(level), log);
  }

  private String log() {
    return log.toString(StandardCharsets.UTF_8);
  }

  private void useAVolume() {
    Volume volume = csi.create("pvc-logged", 16 * MIB);
    driver
        .node()
        .nodeStageVolume(
            NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging().toString())
                .setVolumeCapability(mount("ext4"))
                .putSecrets("password", "hunter2")
                .build());
    driver
        .node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(staging().toString())
                .build());
    csi.unstage(volume.getVolumeId(), staging());
  }
}
