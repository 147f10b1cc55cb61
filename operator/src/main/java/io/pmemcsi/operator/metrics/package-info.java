/**
 * Prometheus metrics of the operator. {@link io.pmemcsi.operator.metrics.OperatorMetrics} has all
 * of them; reconcilers report through {@link io.pmemcsi.operator.metrics.OutcomeListener}.
 */
@NullMarked
package io.pmemcsi.operator.metrics;

import org.jspecify.annotations.NullMarked;
