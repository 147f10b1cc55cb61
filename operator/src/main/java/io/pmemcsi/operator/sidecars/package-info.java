/**
 * The sidecar containers of the Kubernetes project: which image and which flags fit which version
 * of the server. {@link io.pmemcsi.operator.sidecars.Sidecars} is the one table.
 */
@NullMarked
package io.pmemcsi.operator.sidecars;

import org.jspecify.annotations.NullMarked;
