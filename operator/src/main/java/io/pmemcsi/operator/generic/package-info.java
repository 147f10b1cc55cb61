/**
 * {@code CSIDriverDeployment}: any CSI driver from the user's pod templates. {@link
 * io.pmemcsi.operator.generic.GenericBlueprint} computes every object, {@link
 * io.pmemcsi.operator.generic.GenericReconciler} walks from a resource to its status, {@link
 * io.pmemcsi.operator.generic.OperatorConfig} is what the operator's configuration file says.
 */
@NullMarked
package io.pmemcsi.operator.generic;

import org.jspecify.annotations.NullMarked;
