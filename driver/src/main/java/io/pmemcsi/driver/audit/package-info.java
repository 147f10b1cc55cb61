/**
 * Compares the ledger with the devices, mounts and loop devices of the node, at the start, every
 * minute, and for {@code pmem-csi driver audit}. Start reading at {@link
 * io.pmemcsi.driver.audit.Audit}.
 */
@NullMarked
package io.pmemcsi.driver.audit;

import org.jspecify.annotations.NullMarked;
