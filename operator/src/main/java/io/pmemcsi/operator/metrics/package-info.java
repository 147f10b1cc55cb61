/**
 * Prometheus metrics of the operator. {@link io.pmemcsi.operator.metrics.OperatorMetrics} has them,
 * {@link io.pmemcsi.operator.metrics.SubResources} those of the objects of a driver; reconcilers
 * report through {@link io.pmemcsi.operator.metrics.OutcomeListener}.
 */
@NullMarked
package io.pmemcsi.operator.metrics;

import org.jspecify.annotations.NullMarked;
