/**
 * Faults on demand: which answer fails, is cut off, comes late or is stale, and which watch event
 * is lost, doubled or held back. Start with {@link io.pmemcsi.embedded.fault.Faults}.
 */
@NullMarked
package io.pmemcsi.embedded.fault;

import org.jspecify.annotations.NullMarked;
