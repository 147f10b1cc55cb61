/**
 * What every kind of PMEM-CSI resource shares: names, labels, node and controller pods, RBAC,
 * certificates, and the mapping from what runs to the status. A kind turns its spec into a {@link
 * io.pmemcsi.operator.pmemdriver.PmemModel}; everything else here is computed from that model.
 */
@NullMarked
package io.pmemcsi.operator.pmemdriver;

import org.jspecify.annotations.NullMarked;
