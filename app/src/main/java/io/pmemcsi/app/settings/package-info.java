/**
 * Flags and environment turned into checked values, with no input or output: an object of these
 * types is one that the program can run with.
 */
@NullMarked
package io.pmemcsi.app.settings;

import org.jspecify.annotations.NullMarked;
