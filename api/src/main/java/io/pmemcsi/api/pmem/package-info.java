/**
 * {@code PmemCSIDeployment} ({@code pmem-csi.intel.com/v1beta1}): one PMEM-CSI driver with
 * provisioning on every node. Start reading with {@link io.pmemcsi.api.pmem.PmemCSIDeployment};
 * {@link io.pmemcsi.api.pmem.PmemCSIDeploymentSpec} is what the user writes.
 */
@NullMarked
package io.pmemcsi.api.pmem;

import org.jspecify.annotations.NullMarked;
