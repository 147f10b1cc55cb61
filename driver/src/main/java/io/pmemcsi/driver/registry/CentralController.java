package io.pmemcsi.driver.registry;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.csi.CallInterceptor;
import io.pmemcsi.driver.csi.CsiServer;
import io.pmemcsi.driver.csi.IdentityService;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.registry.tls.MutualTls;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.state.StateLock;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/** The central controller: a registry for nodes, and the CSI services for the provisioner. */
public final class CentralController implements AutoCloseable {

  private final StateLock lock;
  private final VolumeLocations locations;
  private final RegisteredNodes nodes;
  private final TlsServer registry;
  private final CsiServer csi;

  private CentralController(
      StateLock lock,
      VolumeLocations locations,
      RegisteredNodes nodes,
      TlsServer registry,
      CsiServer csi) {
    this.lock = lock;
    this.locations = locations;
    this.nodes = nodes;
    this.registry = registry;
    this.csi = csi;
  }

  /** Starts the controller; it answers when this returns. */
  public static CentralController start(
      CentralSettings settings, CallInterceptor.CallRecorder recorder) {
    SslContext tls = MutualTls.client(settings.client(), PeerRole.NODE_CONTROLLER);
    return start(
        settings,
        recorder,
        new DurableFiles(),
        (_, endpoint) -> new TlsNodeClient(open(endpoint, tls)),
        Timeouts.REGISTRATION_PERIOD);
  }

  private static ManagedChannel open(TcpEndpoint endpoint, SslContext tls) {
    return TlsChannel.open(endpoint, PeerRole.NODE_CONTROLLER, tls);
  }

  /** The same with parts of the outside world replaced. */
  static CentralController start(
      CentralSettings settings,
      CallInterceptor.CallRecorder recorder,
      StateFiles files,
      NodeClient.Connector connector,
      Duration settling) {
    try {
      StateLock lock = StateLock.take(settings.statePath(), Timeouts.STATE_LOCK);
      boolean started = false;
      try {
        CentralController controller = serve(settings, recorder, files, connector, settling, lock);
        started = true;
        return controller;
      } finally {
        if (!started) {
          lock.close();
        }
      }
    } catch (StateException e) {
      throw new FatalException("failed to initialize controller: " + e.getMessage(), e);
    }
  }

  private static CentralController serve(
      CentralSettings settings,
      CallInterceptor.CallRecorder recorder,
      StateFiles files,
      NodeClient.Connector connector,
      Duration settling,
      StateLock lock) {
    VolumeLocations locations = VolumeLocations.open(settings.statePath(), files);
    UnreportedNodes unreported =
        new UnreportedNodes(
            settings.inventory(), locations, StartUp.begin(Clock.systemUTC(), settling, locations));
    RegisteredNodes nodes = new RegisteredNodes(connector, locations);
    TlsServer registry =
        TlsServer.start(
            "-registryEndpoint",
            settings.registry(),
            settings.server(),
            PeerRole.NODE_CONTROLLER,
            // the metrics are about CSI calls
            new CallInterceptor(settings.name(), (_, _, _) -> {}),
            List.of(new RegistryService(nodes)));
    boolean started = false;
    try {
      CsiServer csi =
          CsiServer.start(
              settings.endpoint(),
              settings.name(),
              recorder,
              List.of(
                  new IdentityService(settings.driver(), Version.current(), settings.expandable()),
                  new CentralControllerService(settings.driver(), nodes, locations, unreported)));
      started = true;
      return new CentralController(lock, locations, nodes, registry, csi);
    } finally {
      if (!started) {
        registry.close();
        nodes.close();
      }
    }
  }

  /** Where nodes register, with the port in use. */
  public TcpEndpoint registryEndpoint() {
    return registry.endpoint();
  }

  /** The names of the nodes that are registered and can be reached. */
  public List<String> nodes() {
    return nodes.reachable();
  }

  /** Waits for in-flight calls. */
  @Override
  public void close() {
    csi.close();
    registry.close();
    nodes.close();
    locations.flush();
    lock.close();
  }
}
