package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.GetCapacityResponse;
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

  @Test
  void fragmentationReducesTheMaximumVolumeSize() {
    long quarter = 492 * MIB; // four of these, with their metadata, fill a region
    List<Volume> volumes = new ArrayList<>();
    volumes.add(driver().create("a", quarter, QUICK));
    volumes.add(driver().create("b", quarter, QUICK));
    volumes.add(driver().create("c", quarter, QUICK));
    volumes.add(driver().create("d", quarter, QUICK));
    volumes.add(driver().create("other region", largest(), QUICK));
    assertThat(largest()).isZero();

    driver().delete(volumes.remove(3));
    driver().delete(volumes.remove(1));
    driver().delete(volumes.remove(0));

    GetCapacityResponse capacity = driver().capacity();
    assertThat(largest()).isBetween(2 * quarter, 3 * quarter - 1);
    assertThat(capacity.getAvailableCapacity()).isGreaterThanOrEqualTo(3 * quarter);
    Volume big = driver().create("big", largest(), QUICK);
    assertThat(big.getCapacityBytes()).isEqualTo(capacity.getMaximumVolumeSize().getValue());
    volumes.add(big);
    volumes.forEach(driver()::delete);
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
