package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** One thing that a PMEM-CSI deployment has or has not reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DeploymentCondition(
    @Required
        @JsonPropertyDescription(
            "What this is about: CertsVerified, CertsReady, DriverDeployed, or another condition of"
                + " the operator.")
        String type,
    @Required @JsonPropertyDescription("Whether that is so.") String status,
    @JsonPropertyDescription("Why the condition has this status, in short.")
        @Nullable String reason,
    @JsonPropertyDescription("What happened and what to do, in full.") @Nullable String message,
    @JsonPropertyDescription("When the status, reason or message changed last.")
        @Nullable Instant lastUpdateTime) {

  public static final String CERTS_VERIFIED = "CertsVerified";
  public static final String CERTS_READY = "CertsReady";
  public static final String DRIVER_DEPLOYED = "DriverDeployed";

  public DeploymentCondition {
    lastUpdateTime = lastUpdateTime == null ? null : lastUpdateTime.truncatedTo(ChronoUnit.SECONDS);
  }

  /** Whether this says the same as the other, no matter since when. */
  public boolean saysTheSameAs(DeploymentCondition other) {
    return at(null).equals(other.at(null));
  }

  /** This condition, changed at the given time. */
  public DeploymentCondition at(@Nullable Instant time) {
    return new DeploymentCondition(type, status, reason, message, time);
  }
}
