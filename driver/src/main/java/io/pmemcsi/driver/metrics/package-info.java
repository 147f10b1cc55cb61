/** The metrics of the driver. */
@NullMarked
package io.pmemcsi.driver.metrics;

import org.jspecify.annotations.NullMarked;
