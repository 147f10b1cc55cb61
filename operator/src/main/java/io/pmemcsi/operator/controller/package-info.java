/**
 * What every reconciler does beside its own work: tell what it found ({@link
 * io.pmemcsi.operator.controller.StatusPublisher}), tell what went wrong ({@link
 * io.pmemcsi.operator.controller.ErrorReporter}), look after a driver whose deletion is held back
 * ({@link io.pmemcsi.operator.controller.BlockedDeletion}) and count its pods ({@link
 * io.pmemcsi.operator.controller.WorkloadState}). It knows no kind of resource.
 */
@NullMarked
package io.pmemcsi.operator.controller;

import org.jspecify.annotations.NullMarked;
