/**
 * Deployment, pmem-csi.intel.com/v1alpha1: from its spec to a {@link
 * io.pmemcsi.operator.pmemdriver.PmemModel} with a central controller, and which objects make up
 * the driver. Start reading with {@link io.pmemcsi.operator.kinds.legacy.LegacyKind}.
 */
@NullMarked
package io.pmemcsi.operator.kinds.legacy;

import org.jspecify.annotations.NullMarked;
