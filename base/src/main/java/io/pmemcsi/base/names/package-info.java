/** The names that operator and driver agree on. */
@NullMarked
package io.pmemcsi.base.names;

import org.jspecify.annotations.NullMarked;
