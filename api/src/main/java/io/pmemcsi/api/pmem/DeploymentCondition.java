package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.pmemcsi.api.StandardCondition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** One thing that a PMEM-CSI deployment has or has not reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DeploymentCondition(
    @Required
        @JsonPropertyDescription(
            "What this is about: Ready, CertsVerified, CertsReady, DriverDeployed, or another"
                + " condition of the operator.")
        String type,
    @Required @JsonPropertyDescription("Whether that is so.") String status,
    @JsonPropertyDescription("Why the condition has this status, in short.")
        @Nullable String reason,
    @JsonPropertyDescription("What happened and what to do, in full.") @Nullable String message,
    @JsonPropertyDescription("When anything in the condition changed last.")
        @Nullable Instant lastUpdateTime,
    @JsonPropertyDescription("When the status of the condition changed last.")
        @Nullable Instant lastTransitionTime,
    @JsonPropertyDescription("Generation of the resource that was observed. Only Ready has it.")
        @Nullable Long observedGeneration)
    implements StandardCondition<DeploymentCondition> {

  public static final String CERTS_VERIFIED = "CertsVerified";
  public static final String CERTS_READY = "CertsReady";
  public static final String DRIVER_DEPLOYED = "DriverDeployed";

  public DeploymentCondition {
    lastUpdateTime = lastUpdateTime == null ? null : lastUpdateTime.truncatedTo(ChronoUnit.SECONDS);
    lastTransitionTime =
        lastTransitionTime == null ? null : lastTransitionTime.truncatedTo(ChronoUnit.SECONDS);
  }

  /** A condition that was observed, without times. */
  public DeploymentCondition(
      String type, String status, @Nullable String reason, @Nullable String message) {
    this(type, status, reason, message, null, null, null);
  }

  /** The condition Ready. */
  public static DeploymentCondition ready(
      String status, String reason, String message, long generation) {
    return new DeploymentCondition(READY, status, reason, message, null, null, generation);
  }

  @Override
  public boolean equalsIgnoringTime(DeploymentCondition other) {
    return at(null, null).equals(other.at(null, null));
  }

  @Override
  public DeploymentCondition changed(Instant transition, Instant now) {
    return at(now, transition);
  }

  private DeploymentCondition at(@Nullable Instant update, @Nullable Instant transition) {
    return new DeploymentCondition(
        type, status, reason, message, update, transition, observedGeneration);
  }
}
