/**
 * The operating system as the driver uses it, one package per part: {@code exec} runs commands,
 * {@code libc} calls the kernel, {@code block}, {@code loop} and {@code mount} are built on both.
 * {@link io.pmemcsi.driver.linux.Timeouts} has the limits for commands and waits.
 */
@NullMarked
package io.pmemcsi.driver.linux;

import org.jspecify.annotations.NullMarked;
