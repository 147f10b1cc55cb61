/**
 * {@code CSIDriverDeployment}: any CSI driver from the user's pod templates. {@link
 * io.pmemcsi.operator.kinds.template.TemplateDesiredState} computes every object, {@link
 * io.pmemcsi.operator.kinds.template.TemplateReconciler} walks from a resource to its status,
 * {@link io.pmemcsi.operator.kinds.template.OperatorConfig} is what the operator's configuration
 * file says.
 */
@NullMarked
package io.pmemcsi.operator.kinds.template;

import org.jspecify.annotations.NullMarked;
