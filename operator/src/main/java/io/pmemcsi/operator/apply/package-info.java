/**
 * Applies the desired objects of a resource to the cluster: ownership, drift, back-off, prune.
 * Nothing here knows what the objects are for, or which kind of resource owns them. Start reading
 * with {@link io.pmemcsi.operator.apply.Engine}; {@code Cluster} is what it needs of a cluster,
 * {@code ApiCluster} the real one, {@code DryRunCluster} the one of {@code diff}, {@code Stage} the
 * order of writes. Field ownership of server-side apply is in {@code ssa}.
 */
@NullMarked
package io.pmemcsi.operator.apply;

import org.jspecify.annotations.NullMarked;
