/**
 * {@code PmemCSIDeployment}: from the checked resource and the facts about the cluster to the
 * wanted objects, the status and the events, all of it without asking anybody. Start reading with
 * {@link io.pmemcsi.operator.kinds.pmem.PmemDesiredState}; {@link
 * io.pmemcsi.operator.kinds.pmem.PmemReconciler} is where it meets a cluster.
 */
@NullMarked
package io.pmemcsi.operator.kinds.pmem;

import org.jspecify.annotations.NullMarked;
