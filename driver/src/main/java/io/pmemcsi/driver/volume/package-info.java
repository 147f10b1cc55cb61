/**
 * What a volume is: its id, its parameters, its entry in the ledger and the record of what was ever
 * put on its device. Values and files only, no devices and no mounts.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.device.VolumeId}.
 */
@NullMarked
package io.pmemcsi.driver.volume;

import org.jspecify.annotations.NullMarked;
