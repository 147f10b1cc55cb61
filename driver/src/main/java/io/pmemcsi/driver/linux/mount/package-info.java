/**
 * Filesystems and mounts: mkfs with the options that DAX and huge pages need, the mount table,
 * mounting and unmounting.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.linux.mount.Mounts} and {@link
 * io.pmemcsi.driver.linux.mount.FilesystemType}.
 */
@NullMarked
package io.pmemcsi.driver.linux.mount;

import org.jspecify.annotations.NullMarked;
