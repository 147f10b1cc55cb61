/**
 * The CSI services: requests are validated and converted to values, the packages below do the work,
 * and {@code GrpcResponder} maps their failures to status codes.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.csi.CsiServer}.
 */
@NullMarked
package io.pmemcsi.driver.csi;

import org.jspecify.annotations.NullMarked;
