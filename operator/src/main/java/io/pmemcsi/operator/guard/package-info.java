/**
 * What must not go together: drivers that would meet on one node, names that Kubernetes would
 * refuse later. Pure decisions over what the caches hold; start reading with {@link
 * io.pmemcsi.operator.guard.NodeClash}.
 */
@NullMarked
package io.pmemcsi.operator.guard;

import org.jspecify.annotations.NullMarked;
