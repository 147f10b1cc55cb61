/** Prometheus with the rules and the dashboard of {@code deploy/monitoring}. */
@NullMarked
package io.pmemcsi.monitoring;

import org.jspecify.annotations.NullMarked;
