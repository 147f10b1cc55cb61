package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@WithPmemGuest
class DirectDriverIT extends DriverInGuest {
  DirectDriverIT(PmemGuest guest) {
    super(guest, "direct", CAMPAIGN ? 20 : 2, Shutdown.REBOOT);
  }

  /** The percentage has no effect in this mode. */
  @Override
  long afterRaise(long availableBefore) {
    return availableBefore;
  }

  /** One large gap and two small ones; both small ones together are smaller than the large one. */
  @Test
  void volumesInAllGapsHoldWhatIsAvailable() {
    List<Volume> deleted = new ArrayList<>();
    List<Volume> volumes = new ArrayList<>();
    deleted.add(driver().create("a", 1000 * MIB, QUICK));
    volumes.add(driver().create("between-a-b", 0, QUICK));
    deleted.add(driver().create("b", 245 * MIB, QUICK));
    volumes.add(driver().create("between-b-c", 0, QUICK));
    deleted.add(driver().create("c", 245 * MIB, QUICK));
    volumes.addAll(fill("rest"));
    deleted.forEach(driver()::delete);

    long available = driver().capacity().getAvailableCapacity();
    List<Volume> inGaps = fill("gap");

    assertThat(inGaps).hasSize(3);
    assertThat(inGaps.stream().mapToLong(Volume::getCapacityBytes).sum()).isEqualTo(available);
    volumes.addAll(inGaps);
    volumes.forEach(driver()::delete);
  }

  /** Creates volumes of the maximum size until there is no room for another one. */
  private List<Volume> fill(String name) {
    List<Volume> volumes = new ArrayList<>();
    for (long size = largest(); size > 0; size = largest()) {
      Volume volume = driver().create("%s-%d".formatted(name, volumes.size()), size, QUICK);
      assertThat(volume.getCapacityBytes()).isEqualTo(size);
      volumes.add(volume);
    }
    return volumes;
  }

  @Test
  void theResizerGetsTheReasonWhyAVolumeIsNotExpanded() {
    Volume volume = driver().create("fixed", 0, QUICK);

    assertThatThrownBy(
            () ->
                driver()
                    .controller()
                    .controllerExpandVolume(
                        ControllerExpandVolumeRequest.newBuilder()
                            .setVolumeId(volume.getVolumeId())
                            .build()))
        .hasMessageContaining("INVALID_ARGUMENT")
        .hasMessageContaining("device mode direct does not support expansion");

    driver().delete(volume);
  }

  @Test
  void aVolumeInADisabledRegionIsKept() {
    Volume volume = driver().create("hidden", 0, QUICK);
    String region =
        guest.run(
            "ndctl list -RN | jq -r '.. | objects | select(any(.namespaces[]?; .name == \"%s\")) | .dev'"
                .formatted(volume.getVolumeId()));
    guest.run("ndctl disable-region " + region);

    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver().delete(volume));
    assertThat(driver().list()).containsExactly(volume.getVolumeId());

    guest.run("ndctl enable-region " + region);
    driver().delete(volume);
  }

  private long largest() {
    return driver().capacity().getMaximumVolumeSize().getValue();
  }
}
