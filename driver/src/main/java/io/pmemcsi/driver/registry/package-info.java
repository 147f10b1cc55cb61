/**
 * Central provisioning, as PMEM-CSI 0.7 does it: the driver on each node registers with one
 * controller, which picks a node for each new volume and forwards calls to it. Both directions use
 * mutual TLS ({@code tls}).
 *
 * <p>Start reading at {@link io.pmemcsi.driver.registry.CentralController}; the node's part begins
 * at {@link io.pmemcsi.driver.registry.NodeRegistration}.
 */
@NullMarked
package io.pmemcsi.driver.registry;

import org.jspecify.annotations.NullMarked;
