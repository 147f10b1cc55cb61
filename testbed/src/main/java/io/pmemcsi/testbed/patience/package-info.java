/**
 * How long tests wait: {@link io.pmemcsi.testbed.patience.Patience} sets it in one place for all
 * modules that have the test beds on their class path.
 */
@NullMarked
package io.pmemcsi.testbed.patience;

import org.jspecify.annotations.NullMarked;
