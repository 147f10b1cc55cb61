package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.GrpcResponder.respond;

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
  private final boolean expandable;

  /**
   * Serves what the parts below offer.
   *
   * @param expandable whether volumes of this device mode can be expanded
   */
  public IdentityService(DriverName driver, String version, boolean expandable) {
    this.driver = driver;
    this.version = version;
    this.expandable = expandable;
  }

  @Override
  public void getPluginInfo(
      GetPluginInfoRequest request, StreamObserver<GetPluginInfoResponse> observer) {
    respond(
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
    respond(
        observer,
        () -> {
          GetPluginCapabilitiesResponse.Builder all =
              GetPluginCapabilitiesResponse.newBuilder()
                  .addCapabilities(service(PluginCapability.Service.Type.CONTROLLER_SERVICE))
                  .addCapabilities(
                      service(PluginCapability.Service.Type.VOLUME_ACCESSIBILITY_CONSTRAINTS));
          if (expandable) {
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
    respond(observer, ProbeResponse::getDefaultInstance);
  }

  private static PluginCapability service(PluginCapability.Service.Type type) {
    return PluginCapability.newBuilder()
        .setService(PluginCapability.Service.newBuilder().setType(type))
        .build();
  }
}
