package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.pmemcsi.api.Sidecar;
import org.jspecify.annotations.Nullable;

/** The containers that the operator adds to the user's templates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Sidecars(
    @JsonPropertyDescription("External provisioner, in the controller pod. Default: enabled.")
        @Nullable OptionalSidecar provisioner,
    @JsonPropertyDescription("External attacher, in the controller pod. Default: enabled.")
        @Nullable OptionalSidecar attacher,
    @JsonPropertyDescription("External resizer, in the controller pod. Default: disabled.")
        @Nullable OptionalSidecar resizer,
    @JsonPropertyDescription("Snapshotter, in the controller pod. Default: disabled.")
        @Nullable OptionalSidecar snapshotter,
    @JsonPropertyDescription(
            "Node driver registrar, in the node pods. Always runs. Default: the defaults of its"
                + " fields.")
        @Nullable Sidecar driverRegistrar,
    @JsonPropertyDescription(
            "Liveness probe, in all pods. Runs where probePeriodSeconds is set."
                + " Default: the defaults of its fields.")
        @Nullable Sidecar livenessProbe) {

  /** No settings. */
  public static final Sidecars DEFAULT = new Sidecars(null, null, null, null, null, null);
}
