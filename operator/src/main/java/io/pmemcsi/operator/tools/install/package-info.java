/**
 * The operator's own objects: what {@code deploy/operator/pmem-csi-operator.yaml} holds. Its rights
 * follow from what it does and from what it grants. Start reading with {@link
 * io.pmemcsi.operator.tools.install.OperatorInstallation}.
 */
@NullMarked
package io.pmemcsi.operator.tools.install;

import org.jspecify.annotations.NullMarked;
