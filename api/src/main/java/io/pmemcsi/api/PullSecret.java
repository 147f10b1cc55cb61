package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A secret for pulling images, in the namespace of the pods. */
public record PullSecret(
    @Required
        @Size(max = 253)
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
        @JsonPropertyDescription("Name of the secret, in the namespace of the operator.")
        String name) {}
