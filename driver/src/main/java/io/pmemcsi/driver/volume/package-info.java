/**
 * What a volume is: its parameters, its state and its record, and why operations on it are refused.
 * Values only; {@code volume.store} keeps them on disk, {@code volume.operations} changes them.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.volume.VolumeRecord}.
 */
@NullMarked
package io.pmemcsi.driver.volume;

import org.jspecify.annotations.NullMarked;
