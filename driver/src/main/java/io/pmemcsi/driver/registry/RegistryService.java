package io.pmemcsi.driver.registry;

import static io.pmemcsi.driver.registry.Responder.respond;

import io.grpc.stub.StreamObserver;
import java.util.regex.Pattern;
import registry.v0.RegisterControllerReply;
import registry.v0.RegisterControllerRequest;
import registry.v0.RegistryGrpc;
import registry.v0.UnregisterControllerReply;
import registry.v0.UnregisterControllerRequest;

/** Where nodes register. */
final class RegistryService extends RegistryGrpc.RegistryImplBase {

  /** The names that Kubernetes gives to nodes; they become file names. */
  private static final Pattern NODE = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]{0,252})");

  private final RegisteredNodes nodes;

  RegistryService(RegisteredNodes nodes) {
    this.nodes = nodes;
  }

  @Override
  public void registerController(
      RegisterControllerRequest request, StreamObserver<RegisterControllerReply> observer) {
    respond(
        observer,
        () -> {
          String nodeId = nodeId(request.getNodeId());
          TcpEndpoint endpoint = endpoint(request.getEndpoint());
          try {
            nodes.register(nodeId, endpoint, request.getInstance());
          } catch (RegistryException e) {
            throw new RegistryException.Unavailable(
                "the controller cannot list the volumes of node %s at %s: %s"
                    .formatted(nodeId, endpoint, e.text()));
          }
          return RegisterControllerReply.getDefaultInstance();
        });
  }

  @Override
  public void unregisterController(
      UnregisterControllerRequest request, StreamObserver<UnregisterControllerReply> observer) {
    respond(
        observer,
        () -> {
          nodes.unregister(nodeId(request.getNodeId()), request.getInstance());
          return UnregisterControllerReply.getDefaultInstance();
        });
  }

  private static String nodeId(String text) {
    if (!NODE.matcher(text).matches()) {
      throw invalid("node_id \"%s\" is not the name of a Kubernetes node".formatted(text.strip()));
    }
    return text;
  }

  private static TcpEndpoint endpoint(String text) {
    try {
      TcpEndpoint endpoint = TcpEndpoint.parse(text);
      if (endpoint.isReachable()) {
        return endpoint;
      }
    } catch (IllegalArgumentException e) {
      throw invalid("endpoint " + e.getMessage());
    }
    throw invalid("endpoint \"%s\" does not name host and port".formatted(text));
  }

  private static RegistryException invalid(String message) {
    return new RegistryException.InvalidRequest(message);
  }
}
