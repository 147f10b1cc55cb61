/**
 * The system calls that the driver makes itself, through the foreign function API: the only place
 * that knows numbers of calls, flags and errors and the layout of structures.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.linux.libc.Descriptor} (files and ioctls) and {@link
 * io.pmemcsi.driver.linux.libc.MountSyscalls}. A call that the kernel refuses is an {@link
 * io.pmemcsi.driver.linux.libc.ErrnoException}.
 */
@NullMarked
package io.pmemcsi.driver.linux.libc;

import org.jspecify.annotations.NullMarked;
