/** What the driver tells Prometheus. */
@NullMarked
package io.pmemcsi.driver.metrics;

import org.jspecify.annotations.NullMarked;
