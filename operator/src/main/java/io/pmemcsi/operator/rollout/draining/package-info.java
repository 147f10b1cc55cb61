/**
 * How a changed template reaches the nodes: {@link
 * io.pmemcsi.operator.rollout.draining.NodeUpdates} is what a reconciler calls once per walk, and
 * once more when a resource ends. It reads the nodes of the driver ({@code NodeSnapshotReader}),
 * lets {@code DrainPlanner} decide, does what that says ({@code DrainExecutor}) and tells how far
 * it is ({@code UpdateStatus}). Start reading with the planner: it is pure, and it holds all rules.
 *
 * <p>A restarted operator goes on where the last one was, because nothing is remembered outside the
 * cluster: which step is next follows from what is there, and a mark on the node (an annotation,
 * written together with the cordon) says who cordoned it and since when it waits.
 */
@NullMarked
package io.pmemcsi.operator.rollout.draining;

import org.jspecify.annotations.NullMarked;
