/** Measures what users were promised about speed and size, and prints it beside the promise. */
@NullMarked
package io.pmemcsi.bench;

import org.jspecify.annotations.NullMarked;
