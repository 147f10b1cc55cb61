/** Tests of central provisioning without volumes, and what its tests with volumes need. */
@NullMarked
package io.pmemcsi.driver.registry;

import org.jspecify.annotations.NullMarked;
