/** The driver as a program that dies when it is told to; it runs in the guest. */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
