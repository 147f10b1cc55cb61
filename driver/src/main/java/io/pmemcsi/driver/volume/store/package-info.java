/**
 * The ledger: which volumes this driver owns and what is on them, in memory and in one file each.
 * Start reading at {@link io.pmemcsi.driver.volume.store.Ledger}.
 */
@NullMarked
package io.pmemcsi.driver.volume.store;

import org.jspecify.annotations.NullMarked;
