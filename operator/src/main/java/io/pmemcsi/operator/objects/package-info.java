/**
 * Building blocks of Kubernetes objects that every kind uses: pods and probes ({@link
 * io.pmemcsi.operator.objects.Pods}), RBAC ({@link io.pmemcsi.operator.objects.Rbac}) and the
 * releases of the sidecars ({@link io.pmemcsi.operator.objects.SidecarRelease}).
 */
@NullMarked
package io.pmemcsi.operator.objects;

import org.jspecify.annotations.NullMarked;
