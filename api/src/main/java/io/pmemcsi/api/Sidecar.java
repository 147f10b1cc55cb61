package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A sidecar that cannot be switched off here. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Sidecar(
    @Size(max = 64)
        @JsonPropertyDescription("Arguments that follow those of the operator. Default: none.")
        @Nullable List<String> extraArgs,
    @JsonPropertyDescription("Compute resources of the container. Default: none.")
        @Nullable ResourceRequirements resources) {

  public Sidecar {
    extraArgs = extraArgs == null ? null : List.copyOf(extraArgs);
  }
}
