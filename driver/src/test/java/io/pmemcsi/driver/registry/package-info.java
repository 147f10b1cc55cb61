/** Unit tests of central provisioning, and fixtures for its integration tests. */
@NullMarked
package io.pmemcsi.driver.registry;

import org.jspecify.annotations.NullMarked;
