/**
 * PmemCSIDeployment, pmem-csi.intel.com/v1beta1: from its spec to a {@link
 * io.pmemcsi.operator.pmemdriver.PmemModel}, and which objects make up the driver. Start reading
 * with {@link io.pmemcsi.operator.kinds.pmem.PmemKind}.
 */
@NullMarked
package io.pmemcsi.operator.kinds.pmem;

import org.jspecify.annotations.NullMarked;
