/** The program. */
@NullMarked
package io.pmemcsi.app;

import org.jspecify.annotations.NullMarked;
