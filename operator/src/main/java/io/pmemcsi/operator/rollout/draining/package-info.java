/**
 * Node updates with draining: how a changed template reaches the nodes without breaking mounts.
 * {@link io.pmemcsi.operator.rollout.draining.NodeUpdates} is the entrance: {@code plan} observes
 * the nodes of the driver ({@code NodeSnapshotReader}) and decides ({@code DrainPlanner}) without
 * writing anything, {@code execute} acts ({@code DrainExecutor}), and both report progress ({@code
 * UpdateStatus}). Start reading with the planner: it is pure and has all rules.
 *
 * <p>The only state of an update is in the cluster: the observed objects decide the next step, and
 * an annotation of the node, written together with the cordon, records who cordoned it and since
 * when it waits. So a restarted operator continues where the last one stopped.
 */
@NullMarked
package io.pmemcsi.operator.rollout.draining;

import org.jspecify.annotations.NullMarked;
