package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A sidecar that can be switched on and off. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OptionalSidecar(
    @JsonPropertyDescription("Whether the sidecar runs. Default: see the sidecar.")
        @Nullable Boolean enabled,
    @Size(max = 64)
        @JsonPropertyDescription("Arguments that follow those of the operator. Default: none.")
        @Nullable List<String> extraArgs,
    @JsonPropertyDescription("Compute resources of the container. Default: none.")
        @Nullable ResourceRequirements resources) {

  public OptionalSidecar {
    extraArgs = extraArgs == null ? null : List.copyOf(extraArgs);
  }
}
