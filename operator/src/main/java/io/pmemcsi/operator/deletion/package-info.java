/**
 * Decides whether the driver of a resource that is being deleted may be removed. {@link
 * io.pmemcsi.operator.deletion.DeletionGuard} is the entrance.
 *
 * <p>A reconciler has a finalizer on its resources and one guard, made with a {@code UsageReader}
 * and the force annotation of its kind. For a resource with a deletion timestamp it calls {@code
 * decide(resource, spec.deletionPolicy(), driver name)}. On {@code Hold} it reconciles as usual, so
 * that the driver keeps serving, sets the condition {@code DeletionHeld} with reason {@code
 * VolumesInUse} and the message, and requeues after {@code requeueAfter}. On {@code Allow} it
 * removes the objects and then the finalizer. A resource that has installed nothing, because it was
 * never valid or because another resource owns its driver name, needs no guard: the volumes of the
 * other resource must not hold it.
 */
@NullMarked
package io.pmemcsi.operator.deletion;

import org.jspecify.annotations.NullMarked;
