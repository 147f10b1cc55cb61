/** What the tests themselves wait for. */
@NullMarked
package io.pmemcsi.bench.testbed;

import org.jspecify.annotations.NullMarked;
