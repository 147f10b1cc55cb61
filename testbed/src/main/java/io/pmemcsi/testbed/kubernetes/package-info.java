/** A real Kubernetes control plane. */
@NullMarked
package io.pmemcsi.testbed.kubernetes;

import org.jspecify.annotations.NullMarked;
