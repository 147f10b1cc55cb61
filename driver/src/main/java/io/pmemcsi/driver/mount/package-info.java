/**
 * Filesystems and mounts: what is on a device, mkfs with the options that DAX and huge pages need,
 * the mount table, mounting and unmounting.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.mount.Mounts} and {@link
 * io.pmemcsi.driver.mount.FilesystemType}.
 */
@NullMarked
package io.pmemcsi.driver.mount;

import org.jspecify.annotations.NullMarked;
