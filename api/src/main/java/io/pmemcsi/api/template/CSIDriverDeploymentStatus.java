package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the operator has found out about a driver. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record CSIDriverDeploymentStatus(
    @JsonPropertyDescription(
            "Generation of the resource that was processed last without any error.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription(
            "The DaemonSet and the Deployment of the driver, for the operator's own use.")
        List<Child> children,
    @JsonPropertyDescription(
            "What the operator does with the driver: Managed, Unmanaged, or Removed while it is"
                + " being removed.")
        @Nullable String state,
    @JsonPropertyDescription(
            "Available: all desired pods of the current generation are ready. SyncSuccessful: the"
                + " last change was processed; if not, the message says why. Ready: both are True,"
                + " or Available of a driver that is not managed.")
        List<DriverCondition> conditions,
    @JsonPropertyDescription("How far the drivers on the nodes are updated.")
        @Nullable NodeUpdate nodeUpdate) {

  public static final String STATE_MANAGED = "Managed";
  public static final String STATE_UNMANAGED = "Unmanaged";
  public static final String STATE_REMOVED = "Removed";

  /** The status of a resource that no operator has observed yet. */
  public static final CSIDriverDeploymentStatus NEW =
      new CSIDriverDeploymentStatus(null, List.of(), null, List.of(), null);

  public CSIDriverDeploymentStatus {
    children = children == null ? List.of() : List.copyOf(children);
    conditions = conditions == null ? List.of() : List.copyOf(conditions);
  }

  /** This status with other conditions. */
  public CSIDriverDeploymentStatus with(List<DriverCondition> changed) {
    return new CSIDriverDeploymentStatus(observedGeneration, children, state, changed, nodeUpdate);
  }

  /** The condition of a type, if it was ever set. */
  public Optional<DriverCondition> condition(String type) {
    return conditions.stream().filter(condition -> condition.type().equals(type)).findFirst();
  }
}
