/**
 * The operator, as a process of its own, on a real API server: how soon a resource has all its
 * objects, how long many take, how much memory they need and whether it is silent when idle. Start
 * reading with {@link io.pmemcsi.bench.operator.OperatorBenchmark}.
 */
@NullMarked
package io.pmemcsi.bench.operator;

import org.jspecify.annotations.NullMarked;
