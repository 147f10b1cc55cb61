/** Which build this is, as text and as a metric. */
@NullMarked
package io.pmemcsi.base.version;

import org.jspecify.annotations.NullMarked;
