/**
 * What the controller watches of the cluster, kept in the few bytes per object that scheduling
 * needs. Start with {@link io.pmemcsi.controller.cluster.ClusterCache}.
 */
@NullMarked
package io.pmemcsi.controller.cluster;

import org.jspecify.annotations.NullMarked;
