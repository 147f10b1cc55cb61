/**
 * Simulated controllers, for demonstrations only: they write the status that real ones would write
 * when every pod runs, and create no pods. Start with {@link
 * io.pmemcsi.embedded.simulate.SimulatedControllers}.
 */
@NullMarked
package io.pmemcsi.embedded.simulate;

import org.jspecify.annotations.NullMarked;
