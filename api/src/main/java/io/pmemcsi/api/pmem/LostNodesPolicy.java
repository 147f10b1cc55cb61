package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What happens to volumes on nodes that were deleted. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LostNodesPolicy(
    @Pattern("^[1-9][0-9]{0,3}[mhd]$")
        @JsonPropertyDescription(
            "How long after a Node was found deleted the claims of its volumes are deleted, and its"
                + " PersistentVolumes with reclaim policy Delete are removed without a driver: a"
                + " number of minutes, hours or days such as 24h. Their data is lost. A Node that"
                + " is created again under the same name before that keeps them. Default: never.")
        @Nullable String releaseAfter) {

  /** Empty for never. */
  Optional<Duration> period() {
    return Optional.ofNullable(releaseAfter)
        .map(
            text -> {
              long number = Long.parseLong(text.substring(0, text.length() - 1));
              return switch (text.charAt(text.length() - 1)) {
                case 'm' -> Duration.ofMinutes(number);
                case 'h' -> Duration.ofHours(number);
                case 'd' -> Duration.ofDays(number);
                default -> throw new IllegalArgumentException(text);
              };
            });
  }
}
