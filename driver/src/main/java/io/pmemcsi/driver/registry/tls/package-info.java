/**
 * Mutual TLS between the central controller and the node drivers: who may speak to whom, with
 * certificates that are read again when their files change. Start reading at {@link
 * io.pmemcsi.driver.registry.tls.MutualTls}.
 */
@NullMarked
package io.pmemcsi.driver.registry.tls;

import org.jspecify.annotations.NullMarked;
