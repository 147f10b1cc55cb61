/**
 * From a Deployment v1alpha1 to a PmemCSIDeployment for the same driver. Start reading with {@link
 * io.pmemcsi.operator.tools.migrate.Migration}.
 */
@NullMarked
package io.pmemcsi.operator.tools.migrate;

import org.jspecify.annotations.NullMarked;
