package io.pmemcsi.driver.guest;

import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;

@WithPmemGuest
class LvmSnapshotsIT extends SnapshotsInGuest {
  LvmSnapshotsIT(PmemGuest guest) {
    super(guest, "lvm");
  }
}
