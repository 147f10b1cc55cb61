/**
 * Tests of the driver on real (emulated) persistent memory: what runs here is on the host, what is
 * tested runs in the guest. Start reading at {@link io.pmemcsi.driver.guest.GuestDevices}.
 */
@NullMarked
package io.pmemcsi.driver.guest;

import org.jspecify.annotations.NullMarked;
