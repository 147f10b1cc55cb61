/**
 * The CSI services: requests are checked and turned into values, the lifecycle does the work, and
 * its failures are turned into status codes in one place.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.csi.CsiServer}.
 */
@NullMarked
package io.pmemcsi.driver.csi;

import org.jspecify.annotations.NullMarked;
