package io.pmemcsi.driver.registry;

import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.registry.RegistryException.NodeFailed;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A node that is reached over mutual TLS. */
final class TlsNodeClient implements NodeClient {

  private final ManagedChannel channel;

  TlsNodeClient(ManagedChannel channel) {
    this.channel = channel;
  }

  @Override
  public CreateVolumeResponse create(CreateVolumeRequest request) {
    return call(() -> stub().createVolume(request));
  }

  @Override
  public void delete(DeleteVolumeRequest request) {
    var _ = call(() -> stub().deleteVolume(request));
  }

  @Override
  public ValidateVolumeCapabilitiesResponse validate(ValidateVolumeCapabilitiesRequest request) {
    return call(() -> stub().validateVolumeCapabilities(request));
  }

  @Override
  public List<ListVolumesResponse.Entry> list() {
    return call(() -> quick().listVolumes(ListVolumesRequest.getDefaultInstance()))
        .getEntriesList();
  }

  @Override
  public GetCapacityResponse capacity(Map<String, String> parameters) {
    GetCapacityRequest request =
        GetCapacityRequest.newBuilder().putAllParameters(parameters).build();
    return call(() -> quick().getCapacity(request));
  }

  @Override
  public boolean isReachable() {
    return channel.getState(/* requestConnection= */ true) != ConnectivityState.TRANSIENT_FAILURE;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  /**
   * Reports a lost connection as UNAVAILABLE. gRPC calls it UNKNOWN where netty closes the channel
   * under a call; a status from the node itself has no cause.
   */
  private static <T> T call(Supplier<T> call) {
    try {
      return call.get();
    } catch (StatusRuntimeException e) {
      Status status = e.getStatus();
      boolean lost = status.getCode() == Status.Code.UNKNOWN && status.getCause() != null;
      throw new NodeFailed(
          new NodeStatus(lost ? Status.Code.UNAVAILABLE : status.getCode()), Failures.text(e));
    }
  }

  /** The deadline of the caller holds for the node as well: gRPC passes it on. */
  private ControllerGrpc.ControllerBlockingStub stub() {
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    return ControllerGrpc.newBlockingStub(channel);
  }

  private ControllerGrpc.ControllerBlockingStub quick() {
    return stub().withDeadlineAfter(Timeouts.NODE_ANSWER.toMillis(), TimeUnit.MILLISECONDS);
  }
}
