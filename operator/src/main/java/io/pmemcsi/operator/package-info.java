/** The operator. */
@NullMarked
package io.pmemcsi.operator;

import org.jspecify.annotations.NullMarked;
