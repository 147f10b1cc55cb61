/**
 * What the operator knows about the cluster before it decides anything: plain values, so that
 * everything that depends on them can be computed without a cluster. Start reading with {@link
 * io.pmemcsi.operator.facts.ClusterFacts}.
 */
@NullMarked
package io.pmemcsi.operator.facts;

import org.jspecify.annotations.NullMarked;
