/** The driver as a program that crashes on request; it runs in the guest. */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
