/**
 * Block devices for volumes: made, found, grown and removed behind one small interface, one
 * implementation per device mode in a package of its own.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.device.DeviceManager}.
 */
@NullMarked
package io.pmemcsi.driver.device;

import org.jspecify.annotations.NullMarked;
