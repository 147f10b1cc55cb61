/** The reference of all metrics, {@code docs/metrics.md}, from what the programs register. */
@NullMarked
package io.pmemcsi.app.metrics;

import org.jspecify.annotations.NullMarked;
