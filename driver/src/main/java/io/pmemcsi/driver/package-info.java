/** The driver. */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
