package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A service account token that the driver gets with every mount. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TokenRequest(
    @Required
        @JsonPropertyDescription("Whom the token is for; empty means the Kubernetes API server.")
        @Nullable String audience,
    @Min(600)
        @Max(4294967296L)
        @JsonPropertyDescription(
            "For how many seconds the token is valid. Default: that of the server.")
        @Nullable Long expirationSeconds) {}
