package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A node on which the driver runs but has no persistent memory to give. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record UnpreparedNode(
    @Required @JsonPropertyDescription("Name of the node.") String node,
    @JsonPropertyDescription("What is missing on the node and how to repair it.")
        @Nullable String reason) {}
