/**
 * Device mode {@code lvm}: a volume group per region, a logical volume per volume. Start reading at
 * {@link io.pmemcsi.driver.device.lvm.LvmDevices}; {@link io.pmemcsi.driver.device.lvm.GroupSetup}
 * is what happens at start, {@link io.pmemcsi.driver.device.lvm.RawConversion} the preparation of
 * memory that has no labels.
 */
@NullMarked
package io.pmemcsi.driver.device.lvm;

import org.jspecify.annotations.NullMarked;
