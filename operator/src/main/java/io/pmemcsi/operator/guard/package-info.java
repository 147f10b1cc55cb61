/**
 * What must not go together, and what must not go yet: drivers that would meet on one node ({@link
 * io.pmemcsi.operator.guard.NodeConflict}), and drivers whose resource is deleted while something
 * uses them ({@link io.pmemcsi.operator.guard.DeletionGuard}). Pure decisions over what the caches
 * or, for the seldom deletion, the API server hold.
 *
 * <p>A reconciler uses the deletion guard so: it has a finalizer on its resources, and one guard
 * made with {@link io.pmemcsi.operator.guard.ApiUsage} and the annotation of its kind. When it is
 * called for a resource with a deletion time stamp, it asks {@code decide(resource,
 * spec.deletionPolicy(), driver name)}. On {@link io.pmemcsi.operator.guard.DeletionDecision.Hold}
 * it goes on as if nobody had deleted the resource, so that the driver keeps serving; it adds a
 * condition of type {@code DeletionHeld}, status True, reason {@code VolumesInUse} with the
 * message, which goes with the hold, and comes back after {@code again}: volumes, attachments and
 * pods are not watched. On {@link io.pmemcsi.operator.guard.DeletionDecision.Go} it removes the
 * objects and then the finalizer. A resource that has installed nothing, because it was never valid
 * or because its driver's name belongs to another resource, needs no guard: it must not be held
 * back by the volumes of the other one.
 */
@NullMarked
package io.pmemcsi.operator.guard;

import org.jspecify.annotations.NullMarked;
