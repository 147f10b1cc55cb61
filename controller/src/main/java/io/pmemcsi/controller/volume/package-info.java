/**
 * Which volumes of this driver a pod needs, from the pod and from what is known about claims and
 * storage classes; all of it pure. Start with {@link io.pmemcsi.controller.volume.VolumeNeeds}.
 */
@NullMarked
package io.pmemcsi.controller.volume;

import org.jspecify.annotations.NullMarked;
