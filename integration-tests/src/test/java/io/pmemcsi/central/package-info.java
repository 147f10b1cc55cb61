/** Central provisioning with every driver as a process of its own. */
@NullMarked
package io.pmemcsi.central;

import org.jspecify.annotations.NullMarked;
