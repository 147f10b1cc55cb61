package io.pmemcsi.driver.csi;

import com.google.protobuf.Int64Value;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerServiceCapability;
import csi.v1.ControllerServiceCapability.RPC;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesResponse;
import csi.v1.Volume;
import java.util.stream.Stream;

/** Responses that are the same on a node and on the central controller. */
public final class ControllerMessages {

  private ControllerMessages() {}

  public static ControllerGetCapabilitiesResponse capabilities(RPC.Type... types) {
    return ControllerGetCapabilitiesResponse.newBuilder()
        .addAllCapabilities(
            Stream.of(types)
                .map(
                    type ->
                        ControllerServiceCapability.newBuilder()
                            .setRpc(RPC.newBuilder().setType(type))
                            .build())
                .toList())
        .build();
  }

  public static GetCapacityResponse capacity(long available, long largestVolume) {
    return GetCapacityResponse.newBuilder()
        .setAvailableCapacity(available)
        .setMaximumVolumeSize(Int64Value.of(largestVolume))
        .build();
  }

  /**
   * ID and capacity, as in the original: callers compare IDs, and a node with many volumes must
   * respond quickly.
   */
  public static ListVolumesResponse.Entry listed(String volumeId, long bytes) {
    return ListVolumesResponse.Entry.newBuilder()
        .setVolume(Volume.newBuilder().setVolumeId(volumeId).setCapacityBytes(bytes))
        .build();
  }
}
