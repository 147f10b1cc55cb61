/**
 * What each node has left for new volumes, and what of it is reserved for pods whose volumes do not
 * exist yet. {@link io.pmemcsi.controller.capacity.NodeCapacities} answers from memory; a {@link
 * io.pmemcsi.controller.capacity.CapacitySource} keeps it up to date in the background.
 *
 * <p>The scheduler does not say which of the nodes that pass the filter it takes: that shows only
 * later, in the claim or in the pod. Until then the capacity is held on every node that passed.
 * With each pod whose node is still open the number of nodes that pass is cut in half, down to one,
 * so that a burst of pods neither lands on the same last gigabyte nor blocks the whole cluster.
 */
@NullMarked
package io.pmemcsi.controller.capacity;

import org.jspecify.annotations.NullMarked;
