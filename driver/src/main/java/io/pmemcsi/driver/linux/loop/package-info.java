/**
 * Loop devices: files that the kernel shows as block devices. Used by the file device mode and for
 * Kata image files.
 */
@NullMarked
package io.pmemcsi.driver.linux.loop;

import org.jspecify.annotations.NullMarked;
