package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** How the pods of one part of a driver are doing. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DriverComponent(
    @Required @JsonPropertyDescription("Which part of the driver this is about.") String component,
    @Required @JsonPropertyDescription("Ready when every desired pod is ready, NotReady otherwise.")
        String status,
    @JsonPropertyDescription("How many pods are ready, and what is missing.")
        @Nullable String reason,
    @JsonPropertyDescription("When the status or its reason changed last.")
        @Nullable Instant lastUpdated) {

  public static final String CONTROLLER = "Controller";
  public static final String NODE = "Node";
  public static final String READY = "Ready";
  public static final String NOT_READY = "NotReady";

  public DriverComponent {
    lastUpdated = lastUpdated == null ? null : lastUpdated.truncatedTo(ChronoUnit.SECONDS);
  }

  /** Whether both are equal apart from their time. */
  public boolean equalsIgnoringTime(DriverComponent other) {
    return at(null).equals(other.at(null));
  }

  /** This state, changed at the given time. */
  public DriverComponent at(@Nullable Instant time) {
    return new DriverComponent(component, status, reason, time);
  }
}
