package io.pmemcsi.driver.registry;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.tls.MutualTls;
import io.pmemcsi.driver.state.StateFiles;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The real central controller, whose calls to nodes and writes a test can intercept. */
public final class ControllerUnderTest {

  /** Intercepts each call to a node. */
  public interface Steps {
    <T> T call(String what, Supplier<T> call);

    /** Forwards all calls. */
    static Steps undisturbed() {
      return new Steps() {
        @Override
        public <T> T call(String what, Supplier<T> call) {
          return call.get();
        }
      };
    }
  }

  /** The address at which the controller calls a node. */
  public interface Route {
    TcpEndpoint to(String nodeId, TcpEndpoint endpoint);
  }

  private ControllerUnderTest() {}

  public static CentralController start(
      CentralSettings settings, StateFiles files, Steps steps, Route route, Duration settling) {
    SslContext tls = MutualTls.client(settings.client(), PeerRole.NODE_CONTROLLER);
    return CentralController.start(
        settings,
        (_, _, _) -> {},
        files,
        (node, endpoint) ->
            new SteppingClient(
                new TlsNodeClient(
                    TlsChannel.open(route.to(node, endpoint), PeerRole.NODE_CONTROLLER, tls)),
                steps),
        settling);
  }

  private record SteppingClient(NodeClient node, Steps steps) implements NodeClient {

    @Override
    public CreateVolumeResponse create(CreateVolumeRequest request) {
      return steps.call("create", () -> node.create(request));
    }

    @Override
    public void delete(DeleteVolumeRequest request) {
      steps.call(
          "delete",
          () -> {
            node.delete(request);
            return true;
          });
    }

    @Override
    public ValidateVolumeCapabilitiesResponse validate(ValidateVolumeCapabilitiesRequest request) {
      return steps.call("validate", () -> node.validate(request));
    }

    @Override
    public List<ListVolumesResponse.Entry> list() {
      return steps.call("list", node::list);
    }

    @Override
    public GetCapacityResponse capacity(Map<String, String> parameters) {
      return steps.call("capacity", () -> node.capacity(parameters));
    }

    @Override
    public boolean isReachable() {
      return node.isReachable();
    }

    @Override
    public void close() {
      node.close();
    }
  }
}
