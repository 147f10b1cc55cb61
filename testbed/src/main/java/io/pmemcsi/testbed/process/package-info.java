/**
 * Programs and directories that live no longer than the tests that made them: {@link
 * io.pmemcsi.testbed.process.ChildProcess} dies with this JVM, however it dies, and {@link
 * io.pmemcsi.testbed.process.RunDirectory} is deleted with it, or by the next one. Start reading at
 * ChildProcess.
 */
@NullMarked
package io.pmemcsi.testbed.process;

import org.jspecify.annotations.NullMarked;
