/**
 * Small files that survive a crash at any moment, and the lock of the directory that holds them.
 * Every state file of the driver is written and removed through {@link
 * io.pmemcsi.driver.state.StateFiles}, so that crash injection sees each change.
 */
@NullMarked
package io.pmemcsi.driver.state;

import org.jspecify.annotations.NullMarked;
