/**
 * How long tests wait: {@link io.pmemcsi.testbed.awaiting.AwaitilityDefaults} sets it in one place
 * for all modules that have the test beds on their class path.
 */
@NullMarked
package io.pmemcsi.testbed.awaiting;

import org.jspecify.annotations.NullMarked;
