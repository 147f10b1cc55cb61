package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** One thing that is or is not so for a driver. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DriverCondition(
    @Required
        @JsonPropertyDescription(
            "What this is about: Available, SyncSuccessful, or another condition of the operator.")
        String type,
    @Required @JsonPropertyDescription("Whether that is so.") String status,
    @JsonPropertyDescription("When the status changed last.") @Nullable Instant lastTransitionTime,
    @JsonPropertyDescription("Why the condition has this status, in one word.")
        @Nullable String reason,
    @JsonPropertyDescription("What happened and what to do, in full.") @Nullable String message) {

  public static final String AVAILABLE = "Available";
  public static final String SYNC_SUCCESSFUL = "SyncSuccessful";

  public DriverCondition {
    lastTransitionTime =
        lastTransitionTime == null ? null : lastTransitionTime.truncatedTo(ChronoUnit.SECONDS);
  }

  /** This condition, changed at the given time. */
  public DriverCondition at(@Nullable Instant time) {
    return new DriverCondition(type, status, time, reason, message);
  }

  /** Whether this says the same as the other, no matter since when. */
  public boolean saysTheSameAs(DriverCondition other) {
    return at(null).equals(other.at(null));
  }
}
