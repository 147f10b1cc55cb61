package io.pmemcsi.driver.registry;

import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.VolumeId;
import java.util.Map;
import java.util.NavigableMap;

/**
 * Pages of ListVolumes. As on a node, a token is the ID of the last volume on the page before, so
 * that pages stay true while volumes come and go.
 */
final class VolumePages {

  private VolumePages() {}

  static ListVolumesResponse page(ListVolumesRequest request, NavigableMap<String, Long> all) {
    int max = request.getMaxEntries();
    if (max < 0) {
      throw CsiStatusException.invalid("max_entries %d is negative".formatted(max));
    }
    ListVolumesResponse.Builder page = ListVolumesResponse.newBuilder();
    String last = "";
    for (Map.Entry<String, Long> each : after(request.getStartingToken(), all).entrySet()) {
      if (max > 0 && page.getEntriesCount() == max) {
        return page.setNextToken(last).build();
      }
      last = each.getKey();
      page.addEntries(
          ListVolumesResponse.Entry.newBuilder()
              .setVolume(Volume.newBuilder().setVolumeId(last).setCapacityBytes(each.getValue())));
    }
    return page.build();
  }

  private static NavigableMap<String, Long> after(String token, NavigableMap<String, Long> all) {
    if (token.isEmpty()) {
      return all;
    }
    boolean plausible = VolumeId.parse(token).map(VolumeId::isFromName).orElse(false);
    if (!plausible && !all.containsKey(token)) {
      throw new CsiStatusException(
          Status.Code.ABORTED, "starting_token is not one that ListVolumes has returned");
    }
    return all.tailMap(token, false);
  }
}
