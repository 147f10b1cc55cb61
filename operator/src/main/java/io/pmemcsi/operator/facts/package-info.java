/**
 * What the operator knows about the cluster: plain values, so that desired objects can be computed
 * without a cluster. Also what all packages share: helpers for requests, and the requeue periods.
 * Start reading with {@link io.pmemcsi.operator.facts.ClusterFacts}.
 */
@NullMarked
package io.pmemcsi.operator.facts;

import org.jspecify.annotations.NullMarked;
