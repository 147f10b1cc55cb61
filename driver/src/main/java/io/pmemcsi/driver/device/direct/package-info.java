/**
 * Device mode {@code direct}: one namespace per volume. It gives the plainest path from a file to
 * the memory, at the price of fragmentation. Start reading at {@link
 * io.pmemcsi.driver.device.direct.DirectDevices}.
 */
@NullMarked
package io.pmemcsi.driver.device.direct;

import org.jspecify.annotations.NullMarked;
