package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.GrpcResponder.answer;

import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginCapabilitiesResponse;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.IdentityGrpc;
import csi.v1.PluginCapability;
import csi.v1.ProbeRequest;
import csi.v1.ProbeResponse;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.names.DriverName;

/** Says who this driver is. */
public final class IdentityService extends IdentityGrpc.IdentityImplBase {

  private final DriverName driver;
  private final String version;
  private final boolean growing;

  /**
   * Serves what the parts below offer.
   *
   * @param growing whether volumes of this device mode can grow
   */
  public IdentityService(DriverName driver, String version, boolean growing) {
    this.driver = driver;
    this.version = version;
    this.growing = growing;
  }

  @Override
  public void getPluginInfo(
      GetPluginInfoRequest request, StreamObserver<GetPluginInfoResponse> observer) {
    answer(
        observer,
        () ->
            GetPluginInfoResponse.newBuilder()
                .setName(driver.value())
                .setVendorVersion(version)
                .build());
  }

  @Override
  public void getPluginCapabilities(
      GetPluginCapabilitiesRequest request,
      StreamObserver<GetPluginCapabilitiesResponse> observer) {
    answer(
        observer,
        () -> {
          GetPluginCapabilitiesResponse.Builder all =
              GetPluginCapabilitiesResponse.newBuilder()
                  .addCapabilities(service(PluginCapability.Service.Type.CONTROLLER_SERVICE))
                  .addCapabilities(
                      service(PluginCapability.Service.Type.VOLUME_ACCESSIBILITY_CONSTRAINTS));
          if (growing) {
            all.addCapabilities(
                PluginCapability.newBuilder()
                    .setVolumeExpansion(
                        PluginCapability.VolumeExpansion.newBuilder()
                            .setType(PluginCapability.VolumeExpansion.Type.ONLINE)));
          }
          return all.build();
        });
  }

  @Override
  public void probe(ProbeRequest request, StreamObserver<ProbeResponse> observer) {
    answer(observer, ProbeResponse::getDefaultInstance);
  }

  private static PluginCapability service(PluginCapability.Service.Type type) {
    return PluginCapability.newBuilder()
        .setService(PluginCapability.Service.newBuilder().setType(type))
        .build();
  }
}
