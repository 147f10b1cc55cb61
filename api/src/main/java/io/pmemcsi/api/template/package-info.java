/**
 * {@code CSIDriverDeployment} ({@code csidriver.storage.openshift.io/v1alpha1}): any CSI driver,
 * created from the user's pod templates. Start reading with {@link
 * io.pmemcsi.api.template.CSIDriverDeployment}; {@link
 * io.pmemcsi.api.template.CSIDriverDeploymentSpec} is what the user writes.
 */
@NullMarked
package io.pmemcsi.api.template;

import org.jspecify.annotations.NullMarked;
