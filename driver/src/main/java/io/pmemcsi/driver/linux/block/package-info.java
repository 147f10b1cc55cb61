/**
 * Block devices as the kernel knows them: their number, whether they are in use, and the signatures
 * of filesystems and partition tables on them.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.linux.block.BlockDevices} and {@link
 * io.pmemcsi.driver.linux.block.Signatures}.
 */
@NullMarked
package io.pmemcsi.driver.linux.block;

import org.jspecify.annotations.NullMarked;
