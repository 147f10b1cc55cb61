/**
 * {@code PmemCSIDeployment}: from the checked resource and the facts about the cluster to the
 * wanted objects, the status and the events, all of it without asking anybody. Start reading with
 * {@link io.pmemcsi.operator.pmem.PmemBlueprint}; {@link io.pmemcsi.operator.pmem.PmemReconciler}
 * is where it meets a cluster.
 */
@NullMarked
package io.pmemcsi.operator.pmem;

import org.jspecify.annotations.NullMarked;
