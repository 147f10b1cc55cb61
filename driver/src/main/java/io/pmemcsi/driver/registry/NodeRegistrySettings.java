package io.pmemcsi.driver.registry;

import io.pmemcsi.driver.registry.tls.TlsFiles;

/**
 * How a node takes part in central provisioning.
 *
 * @param registry where the controller listens
 * @param endpoint where this node serves the controller, and what it registers
 * @param server proves to the controller which side serves it
 * @param client proves to the registry who registers
 */
public record NodeRegistrySettings(
    TcpEndpoint registry, TcpEndpoint endpoint, TlsFiles server, TlsFiles client) {

  public NodeRegistrySettings {
    if (!registry.isReachable()) {
      throw new IllegalArgumentException(
          "registryEndpoint %s does not name the host and port of the controller"
              .formatted(registry));
    }
    // port 0 lets the system choose one
    if (!new TcpEndpoint(endpoint.host(), 1).isReachable()) {
      throw new IllegalArgumentException(
          "controllerEndpoint %s is sent to the controller: name the address of this node"
              .formatted(endpoint));
    }
  }
}
