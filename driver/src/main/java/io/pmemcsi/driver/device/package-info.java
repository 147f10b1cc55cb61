/**
 * Block devices for volumes: created, found, expanded and removed behind one small interface, with
 * one implementation per device mode in a package of its own. A new mode is such a package, a value
 * of {@link io.pmemcsi.driver.device.DeviceMode}, and a line in the table that opens managers.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.device.DeviceManager}.
 */
@NullMarked
package io.pmemcsi.driver.device;

import org.jspecify.annotations.NullMarked;
