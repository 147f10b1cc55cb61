/**
 * CSIDriverDeployment, csidriver.storage.openshift.io/v1alpha1: any CSI driver from the user's pod
 * templates, with sidecars, conflicts between resources, and the operator's configuration. Start
 * reading with {@link io.pmemcsi.operator.kinds.template.TemplateKind}.
 */
@NullMarked
package io.pmemcsi.operator.kinds.template;

import org.jspecify.annotations.NullMarked;
