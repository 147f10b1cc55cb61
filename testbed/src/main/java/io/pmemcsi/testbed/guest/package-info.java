/**
 * A virtual machine with emulated persistent memory, where LVM, ndctl and DAX mounts really work,
 * for tests that run a program there. Start reading at {@link io.pmemcsi.testbed.guest.PmemGuest};
 * tests get one with {@link io.pmemcsi.testbed.guest.WithPmemGuest}. What the guest boots from is
 * made by the scripts in testbed/guest.
 */
@NullMarked
package io.pmemcsi.testbed.guest;

import org.jspecify.annotations.NullMarked;
