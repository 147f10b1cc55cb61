/**
 * Fault injection: which responses fail, are cut, delayed or stale, and which watch events are
 * lost, duplicated or reordered. Start with {@link io.pmemcsi.embedded.fault.Faults}.
 */
@NullMarked
package io.pmemcsi.embedded.fault;

import org.jspecify.annotations.NullMarked;
