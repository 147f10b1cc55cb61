package io.pmemcsi.driver.registry;

import io.grpc.BindableService;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.csi.CallInterceptor;
import java.util.List;

/** The node's part: its controller service over mutual TLS, and its registration. */
public final class NodeProvisioning implements AutoCloseable {

  private final TlsServer server;
  private final NodeRegistration registration;

  private NodeProvisioning(TlsServer server, NodeRegistration registration) {
    this.server = server;
    this.registration = registration;
  }

  /** Serves at once, and registers in the background. */
  public static NodeProvisioning start(
      String nodeId,
      NodeRegistrySettings settings,
      CallInterceptor interceptor,
      List<BindableService> services) {
    TlsServer server =
        TlsServer.start(
            "-controllerEndpoint",
            settings.endpoint(),
            settings.server(),
            PeerRole.REGISTRY,
            interceptor,
            services);
    boolean started = false;
    try {
      NodeRegistration registration =
          NodeRegistration.start(
              nodeId, settings.registry(), server.endpoint(), settings.client(), Backoff.DEFAULT);
      started = true;
      return new NodeProvisioning(server, registration);
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  /** Where the controller reaches this node. */
  public TcpEndpoint endpoint() {
    return server.endpoint();
  }

  public boolean isRegistered() {
    return registration.isRegistered();
  }

  /** Unregisters first, so that the controller sends nothing more. */
  @Override
  public void close() {
    registration.close();
    server.close();
  }
}
