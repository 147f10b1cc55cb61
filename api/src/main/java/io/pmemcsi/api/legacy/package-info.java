/**
 * {@code Deployment} ({@code pmem-csi.intel.com/v1alpha1}): one PMEM-CSI driver with a central
 * controller, its registry and mutual TLS. Start reading with {@link
 * io.pmemcsi.api.legacy.LegacyDeployment}; {@link io.pmemcsi.api.legacy.LegacyDeploymentSpec} is
 * what the user writes.
 */
@NullMarked
package io.pmemcsi.api.legacy;

import org.jspecify.annotations.NullMarked;
