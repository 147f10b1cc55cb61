/** Tests of the PMEM guest; {@link io.pmemcsi.testbed.guest.PmemGuestIT} boots a real one. */
@NullMarked
package io.pmemcsi.testbed.guest;

import org.jspecify.annotations.NullMarked;
