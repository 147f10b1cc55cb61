/**
 * Runs the tools of the operating system: argument lists instead of shell text, a time-out for each
 * of them, a bounded part of the output kept, and the whole process tree killed when the call it
 * serves is cancelled.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.linux.exec.CommandRunner}; {@link
 * io.pmemcsi.driver.linux.exec.ProcessRunner} is the real one, tests have recording or failing
 * ones.
 */
@NullMarked
package io.pmemcsi.driver.linux.exec;

import org.jspecify.annotations.NullMarked;
