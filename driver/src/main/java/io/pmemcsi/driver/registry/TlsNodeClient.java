package io.pmemcsi.driver.registry;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A node that is reached over mutual TLS. */
final class TlsNodeClient implements NodeClient {

  /** A node answers these from memory. */
  private static final Duration QUICK = Duration.ofSeconds(5);

  private final ManagedChannel channel;

  TlsNodeClient(ManagedChannel channel) {
    this.channel = channel;
  }

  @Override
  public CreateVolumeResponse create(CreateVolumeRequest request) {
    return stub().createVolume(request);
  }

  @Override
  public void delete(DeleteVolumeRequest request) {
    var _ = stub().deleteVolume(request);
  }

  @Override
  public ControllerExpandVolumeResponse expand(ControllerExpandVolumeRequest request) {
    return stub().controllerExpandVolume(request);
  }

  @Override
  public ValidateVolumeCapabilitiesResponse validate(ValidateVolumeCapabilitiesRequest request) {
    return stub().validateVolumeCapabilities(request);
  }

  @Override
  public List<ListVolumesResponse.Entry> list() {
    return quick().listVolumes(ListVolumesRequest.getDefaultInstance()).getEntriesList();
  }

  @Override
  public GetCapacityResponse capacity() {
    return quick().getCapacity(GetCapacityRequest.getDefaultInstance());
  }

  @Override
  public void reconnect() {
    channel.resetConnectBackoff();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  /** The deadline of the caller holds for the node as well: gRPC passes it on. */
  private ControllerGrpc.ControllerBlockingStub stub() {
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    return ControllerGrpc.newBlockingStub(channel);
  }

  private ControllerGrpc.ControllerBlockingStub quick() {
    return stub().withDeadlineAfter(QUICK.toMillis(), TimeUnit.MILLISECONDS);
  }
}
