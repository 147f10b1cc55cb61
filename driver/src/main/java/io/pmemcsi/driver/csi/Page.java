package io.pmemcsi.driver.csi;

import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import java.util.List;
import java.util.function.Function;

/**
 * A part of a list. A token is the ID of the last entry on the page before, so that pages neither
 * repeat nor skip an entry when others come and go between.
 *
 * @param nextToken empty on the last page
 */
public record Page<T>(List<T> entries, String nextToken) {

  /** What a request for a page has, whatever is listed. */
  public record Request(String call, int maxEntries, String startingToken) {
    public Request {
      if (maxEntries < 0) {
        throw CsiStatusException.invalid("max_entries %d is negative".formatted(maxEntries));
      }
    }

    /** Whether all is asked for at once. */
    boolean isForAll() {
      return maxEntries == 0 && startingToken.isEmpty();
    }

    /** What follows after the token. */
    <T> List<T> after(List<T> all, Function<T, String> id) {
      if (startingToken.isEmpty()) {
        return all;
      }
      boolean plausible = VolumeId.parse(startingToken).map(VolumeId::isFromName).orElse(false);
      if (!plausible && all.stream().map(id).noneMatch(startingToken::equals)) {
        throw new CsiStatusException(
            Status.Code.ABORTED,
            "starting_token \"%s\" is not one that %s has returned"
                .formatted(Requests.escaped(startingToken), call));
      }
      return all.stream().filter(entry -> id.apply(entry).compareTo(startingToken) > 0).toList();
    }

    /** The first of what follows after the token. */
    <T> Page<T> first(List<T> after, Function<T, String> id) {
      if (maxEntries == 0 || after.size() <= maxEntries) {
        return new Page<>(after, "");
      }
      List<T> entries = after.subList(0, maxEntries);
      return new Page<>(entries, id.apply(entries.getLast()));
    }

    /** The requested page of a list that is ordered by ID. */
    public <T> Page<T> of(List<T> all, Function<T, String> id) {
      return first(after(all, id), id);
    }
  }
}
