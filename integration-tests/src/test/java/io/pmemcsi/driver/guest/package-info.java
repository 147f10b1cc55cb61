/**
 * Tests of the driver on real (emulated) persistent memory: the tests are on the host, the driver
 * runs in the guest. Start reading at {@link io.pmemcsi.driver.guest.DriverInGuest}.
 */
@NullMarked
package io.pmemcsi.driver.guest;

import org.jspecify.annotations.NullMarked;
