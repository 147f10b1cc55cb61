package io.pmemcsi.driver.guest;

import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;

@WithPmemGuest
class DirectSnapshotsIT extends SnapshotsInGuest {
  DirectSnapshotsIT(PmemGuest guest) {
    super(guest, "direct");
  }
}
