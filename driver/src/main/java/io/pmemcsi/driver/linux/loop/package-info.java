/**
 * Loop devices: files that the kernel shows as block devices. Used by the file device mode and for
 * Kata image files.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.linux.loop.LoopDevices}; {@link
 * io.pmemcsi.driver.linux.loop.LoopCalls} is what it asks of the kernel, which tests replace.
 */
@NullMarked
package io.pmemcsi.driver.linux.loop;

import org.jspecify.annotations.NullMarked;
