/**
 * The sub-commands and their flags, in the spelling of Go programs as well as in the usual one.
 * Start with {@link io.pmemcsi.app.cli.Program}.
 */
@NullMarked
package io.pmemcsi.app.cli;

import org.jspecify.annotations.NullMarked;
