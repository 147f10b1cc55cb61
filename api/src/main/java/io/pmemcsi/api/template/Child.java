package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A workload of the driver and the generation in which the operator left it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Child(
    @JsonPropertyDescription("API group of the object.") @Nullable String group,
    @Required @JsonPropertyDescription("Kind of the object: DaemonSet or Deployment.")
        String resource,
    @JsonPropertyDescription("Namespace of the object.") @Nullable String namespace,
    @Required @JsonPropertyDescription("Name of the object.") String name,
    @JsonPropertyDescription("Generation of the object after the operator's last write.")
        @Nullable Long lastGeneration) {}
