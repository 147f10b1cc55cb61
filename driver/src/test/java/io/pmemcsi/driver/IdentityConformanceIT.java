package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.PluginCapability;
import csi.v1.ProbeRequest;
import org.junit.jupiter.api.Test;

/** Requirements of the CSI specification for the Identity service. */
class IdentityConformanceIT extends SharedDriver {

  @Test
  void theNameIsTheDriverName() {
    GetPluginInfoResponse info =
        driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());

    assertThat(info.getName()).isEqualTo(FileModeDriver.NAME).matches("[a-zA-Z0-9.-]{1,63}");
    assertThat(info.getVendorVersion()).isNotEmpty();
  }

  @Test
  void theCapabilitiesListTheImplementedServices() {
    assertThat(
            driver
                .identity()
                .getPluginCapabilities(GetPluginCapabilitiesRequest.getDefaultInstance())
                .getCapabilitiesList())
        .extracting(
            c ->
                c.hasService()
                    ? c.getService().getType().name()
                    : c.getVolumeExpansion().getType().name())
        .containsExactly(
            PluginCapability.Service.Type.CONTROLLER_SERVICE.name(),
            PluginCapability.Service.Type.VOLUME_ACCESSIBILITY_CONSTRAINTS.name(),
            PluginCapability.VolumeExpansion.Type.ONLINE.name());
  }

  @Test
  void probeLeavesReadyUnset() {
    assertThat(driver.identity().probe(ProbeRequest.getDefaultInstance()).hasReady()).isFalse();
  }
}
