package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.pmemcsi.api.StandardCondition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** One thing that is or is not so for a driver. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DriverCondition(
    @Required
        @JsonPropertyDescription(
            "What this is about: Ready, Available, SyncSuccessful, or another condition of the"
                + " operator.")
        String type,
    @Required @JsonPropertyDescription("Whether that is so.") String status,
    @JsonPropertyDescription("When the status changed last.") @Nullable Instant lastTransitionTime,
    @JsonPropertyDescription("Why the condition has this status, in one word.")
        @Nullable String reason,
    @JsonPropertyDescription("What happened and what to do, in full.") @Nullable String message,
    @JsonPropertyDescription("Generation of the resource that was observed. Only Ready has it.")
        @Nullable Long observedGeneration)
    implements StandardCondition<DriverCondition> {

  public static final String AVAILABLE = "Available";
  public static final String SYNC_SUCCESSFUL = "SyncSuccessful";

  public DriverCondition {
    lastTransitionTime =
        lastTransitionTime == null ? null : lastTransitionTime.truncatedTo(ChronoUnit.SECONDS);
  }

  /** A condition that was observed, without times. */
  public DriverCondition(
      String type, String status, @Nullable String reason, @Nullable String message) {
    this(type, status, null, reason, message, null);
  }

  /** The condition Ready. */
  public static DriverCondition ready(
      String status, String reason, String message, long generation) {
    return new DriverCondition(READY, status, null, reason, message, generation);
  }

  @Override
  public boolean equalsIgnoringTime(DriverCondition other) {
    return at(null).equals(other.at(null));
  }

  @Override
  public DriverCondition changed(Instant transition, Instant now) {
    return at(transition);
  }

  private DriverCondition at(@Nullable Instant transition) {
    return new DriverCondition(type, status, transition, reason, message, observedGeneration);
  }
}
