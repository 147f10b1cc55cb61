package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.ListVolumesRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Volume names and volume IDs are never confused. */
class NamesIT extends DriverPerTest {

  @Test
  void theIdOfAPersistentVolumeIsNoHandleForAnEphemeralOne() {
    Volume volume = csi.create("pvc-1", 16 * MIB);

    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral(
                        volume.getVolumeId(),
                        scratch.pod("target"),
                        mount(""),
                        Map.of("size", "16Mi"))))
        .fails(Status.Code.ALREADY_EXISTS, "is that of a persistent volume");

    csi.delete(volume.getVolumeId());
  }

  @Test
  void anEphemeralVolumeAndAPersistentOneCannotShareAName() {
    csi.create("same", 16 * MIB);

    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral(
                        "same", scratch.pod("target"), mount(""), Map.of("size", "16Mi"))))
        .fails(Status.Code.ALREADY_EXISTS);

    csi.deleteByName("same");
  }

  @Test
  void theNameOfAVolumeIsNotItsId() {
    csi.create("pvc-1", 16 * MIB);

    csi.delete("pvc-1");
    assertThatCall(() -> csi.expand("pvc-1", scratch.pod("target"), 32 * MIB))
        .fails(Status.Code.NOT_FOUND, "\"pvc-1\" does not exist");

    assertThat(
            driver
                .controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntriesCount())
        .isEqualTo(1);
    csi.deleteByName("pvc-1");
  }

  @Test
  void concurrentEphemeralAndPersistentVolumesNeverShareAName() throws Exception {
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int attempt = 0;
          attempt < (Boolean.getBoolean("pmem-csi.campaign") ? 100 : 10);
          attempt++) {
        Future<Boolean> persistent =
            callers.submit(() -> isFirst(() -> csi.create("same", 16 * MIB)));
        Future<Boolean> ephemeral =
            callers.submit(
                () ->
                    isFirst(
                        () ->
                            csi.publish(
                                Calls.ephemeral(
                                    "same",
                                    scratch.pod("pod"),
                                    mount(""),
                                    Map.of("size", "16Mi")))));

        assertThat(persistent.get()).as("attempt %d", attempt).isNotEqualTo(ephemeral.get());
        if (ephemeral.get()) {
          csi.unpublish("same", scratch.pod("pod"));
        } else {
          csi.deleteByName("same");
        }
        scratch.assertNothingLeft();
      }
    }
  }

  private static boolean isFirst(Runnable call) {
    try {
      call.run();
      return true;
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.ALREADY_EXISTS);
      return false;
    }
  }
}
