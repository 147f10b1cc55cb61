/**
 * Tests on output that was recorded from the real tools; the tools themselves are tested in the
 * PMEM guest.
 */
@NullMarked
package io.pmemcsi.driver.device.ndctl;

import org.jspecify.annotations.NullMarked;
