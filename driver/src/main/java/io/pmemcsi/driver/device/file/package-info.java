/**
 * Devices for nodes without persistent memory ({@code deviceMode: file}), for trials, the demo and
 * tests: sparse files behind loop devices. Filesystems and mounts on them are real; DAX is not
 * possible.
 */
@NullMarked
package io.pmemcsi.driver.device.file;

import org.jspecify.annotations.NullMarked;
