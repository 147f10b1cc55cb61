/**
 * The two ways in which the program ends early: the user's mistake (exit code 2) and everything
 * else (exit code 1). Only the program's entrance turns them into a line of text and an exit code.
 */
@NullMarked
package io.pmemcsi.base.error;

import org.jspecify.annotations.NullMarked;
