/** Tests of the certificates of central provisioning. */
@NullMarked
package io.pmemcsi.driver.registry.tls;

import org.jspecify.annotations.NullMarked;
