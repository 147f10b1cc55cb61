/**
 * What every reconciler does beside its own work: tell what it found ({@link
 * io.pmemcsi.operator.reconcile.StatusPublisher}), tell what went wrong ({@link
 * io.pmemcsi.operator.reconcile.Failures}), look after a driver whose deletion is held back ({@link
 * io.pmemcsi.operator.reconcile.HeldDeletion}) and count its pods ({@link
 * io.pmemcsi.operator.reconcile.WorkloadState}). It knows no kind of resource.
 */
@NullMarked
package io.pmemcsi.operator.reconcile;

import org.jspecify.annotations.NullMarked;
