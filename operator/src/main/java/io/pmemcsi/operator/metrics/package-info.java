/**
 * Numbers about the operator for Prometheus. {@link io.pmemcsi.operator.metrics.OperatorMetrics}
 * has all of them.
 */
@NullMarked
package io.pmemcsi.operator.metrics;

import org.jspecify.annotations.NullMarked;
