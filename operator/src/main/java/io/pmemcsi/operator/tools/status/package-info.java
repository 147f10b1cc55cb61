/**
 * {@code pmem-csi status}: what runs on a cluster, for a human. {@link
 * io.pmemcsi.operator.tools.status.ClusterReader} reads everything once, with {@link
 * io.pmemcsi.operator.tools.status.MetricsReader} what only the drivers know, {@link
 * io.pmemcsi.operator.tools.status.DriverReport} is computed from it, {@link
 * io.pmemcsi.operator.tools.status.TextReport} prints it.
 */
@NullMarked
package io.pmemcsi.operator.tools.status;

import org.jspecify.annotations.NullMarked;
