package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** How nodes are emptied of a driver's volumes before its pod is restarted. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Draining(
    @Min(1)
        @Max(1000)
        @JsonPropertyDescription("How many nodes are worked on at the same time. Default: 1.")
        @Nullable Integer parallelNodes,
    @Min(1)
        @Max(604800)
        @JsonPropertyDescription(
            "How many seconds pods may take to leave a node, disruption budgets included, before"
                + " the update pauses and says so. Default: 600.")
        @Nullable Integer evictionTimeoutSeconds,
    @Min(1)
        @Max(604800)
        @JsonPropertyDescription(
            "How many seconds volumes may take to be unmounted and detached after the last pod has"
                + " terminated, before the update pauses and says so. Default: 300.")
        @Nullable Integer unmountTimeoutSeconds,
    @Min(1)
        @Max(604800)
        @JsonPropertyDescription(
            "How many seconds the new driver pod may take to be ready and registered, before the"
                + " update pauses and says so. Default: 300.")
        @Nullable Integer restartTimeoutSeconds,
    @JsonPropertyDescription(
            "Whether pods that nothing will create again are evicted as well; with false the update"
                + " waits until they end. Default: false.")
        @Nullable Boolean evictUnmanagedPods) {

  /** Draining with the defaults. */
  public static final Draining DEFAULT = new Draining(null, null, null, null, null);

  public int parallelNodesOrDefault() {
    return parallelNodes == null ? 1 : parallelNodes;
  }

  public int evictionTimeoutSecondsOrDefault() {
    return evictionTimeoutSeconds == null ? 600 : evictionTimeoutSeconds;
  }

  public int unmountTimeoutSecondsOrDefault() {
    return unmountTimeoutSeconds == null ? 300 : unmountTimeoutSeconds;
  }

  public int restartTimeoutSecondsOrDefault() {
    return restartTimeoutSeconds == null ? 300 : restartTimeoutSeconds;
  }

  public boolean evictsUnmanagedPods() {
    return Boolean.TRUE.equals(evictUnmanagedPods);
  }
}
