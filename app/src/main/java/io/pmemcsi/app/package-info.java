/**
 * The program: it reads the command line, wires the parts together by calling their constructors,
 * and turns whatever goes wrong into one line and an exit code. Start with {@link
 * io.pmemcsi.app.Main}.
 */
@NullMarked
package io.pmemcsi.app;

import org.jspecify.annotations.NullMarked;
