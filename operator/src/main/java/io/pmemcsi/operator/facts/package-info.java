/**
 * What the operator knows about the cluster: {@link io.pmemcsi.operator.facts.ClusterFacts} are
 * plain values, so that desired objects can be computed without a cluster; {@link
 * io.pmemcsi.operator.facts.ClusterProbe} and {@link io.pmemcsi.operator.facts.OwnPod} read them.
 * Also what all packages share: helpers for requests, and the requeue periods.
 */
@NullMarked
package io.pmemcsi.operator.facts;

import org.jspecify.annotations.NullMarked;
