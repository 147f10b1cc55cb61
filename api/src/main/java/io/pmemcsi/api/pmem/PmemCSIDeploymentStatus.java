package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the operator has found out about a PMEM-CSI driver. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record PmemCSIDeploymentStatus(
    @JsonPropertyDescription(
            "Empty for a new resource; Initializing when all objects exist but pods are not ready;"
                + " Running when every component is ready and registered on its nodes; Failed until"
                + " the reported problem is fixed; Unmanaged while the operator leaves the objects"
                + " alone; Terminating after the resource was deleted.")
        @Nullable String phase,
    @JsonPropertyDescription("Why the deployment is in this phase, and what to do about it.")
        @Nullable String reason,
    @JsonPropertyDescription("Generation of the resource to which this status belongs.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription(
            "What the deployment has or has not reached. Ready is True exactly while it is"
                + " Running, or Unmanaged with all components ready.")
        List<DeploymentCondition> conditions,
    @JsonPropertyDescription("State of the controller and of the drivers on the nodes.")
        List<DriverComponent> driverComponents,
    @JsonPropertyDescription(
            "Nodes on which the driver runs but finds no persistent memory that it may use.")
        List<UnpreparedNode> unpreparedNodes,
    @JsonPropertyDescription(
            "Nodes that do not exist any more although volumes of the driver are bound to them; at"
                + " most 50.")
        List<LostNode> lostNodes,
    @JsonPropertyDescription(
            "When the certificate of the controller, or of a CA that issued it, expires first.")
        @Nullable Instant certificateExpires,
    @JsonPropertyDescription("When this status changed last.") @Nullable Instant lastUpdated) {

  public static final String PHASE_NEW = "";
  public static final String PHASE_INITIALIZING = "Initializing";
  public static final String PHASE_RUNNING = "Running";
  public static final String PHASE_FAILED = "Failed";
  public static final String PHASE_UNMANAGED = "Unmanaged";
  public static final String PHASE_TERMINATING = "Terminating";

  /** The status of a resource that no operator has observed yet. */
  public static final PmemCSIDeploymentStatus NEW =
      new PmemCSIDeploymentStatus(
          null, null, null, List.of(), List.of(), List.of(), List.of(), null, null);

  public PmemCSIDeploymentStatus {
    conditions = conditions == null ? List.of() : List.copyOf(conditions);
    driverComponents = driverComponents == null ? List.of() : List.copyOf(driverComponents);
    unpreparedNodes = unpreparedNodes == null ? List.of() : List.copyOf(unpreparedNodes);
    lostNodes = lostNodes == null ? List.of() : List.copyOf(lostNodes);
    certificateExpires =
        certificateExpires == null ? null : certificateExpires.truncatedTo(ChronoUnit.SECONDS);
    lastUpdated = lastUpdated == null ? null : lastUpdated.truncatedTo(ChronoUnit.SECONDS);
  }

  /** This status with other conditions, changed at the given time. */
  public PmemCSIDeploymentStatus with(List<DeploymentCondition> changed, Instant time) {
    return new PmemCSIDeploymentStatus(
        phase,
        reason,
        observedGeneration,
        changed,
        driverComponents,
        unpreparedNodes,
        lostNodes,
        certificateExpires,
        time);
  }

  public String phaseOrNew() {
    return phase == null ? PHASE_NEW : phase;
  }

  /** The condition of a type, if it was ever set. */
  public Optional<DeploymentCondition> condition(String type) {
    return conditions.stream().filter(condition -> condition.type().equals(type)).findFirst();
  }

  /** The state of a component, if it was ever set. */
  public Optional<DriverComponent> component(String name) {
    return driverComponents.stream().filter(part -> part.component().equals(name)).findFirst();
  }
}
