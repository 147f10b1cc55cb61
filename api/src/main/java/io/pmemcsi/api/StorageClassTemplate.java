package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Required;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A storage class without its provisioner, which is always the driver. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StorageClassTemplate(
    @Required @JsonPropertyDescription("Name, labels and annotations of the storage class.")
        @Nullable JsonNode metadata,
    @JsonProperty("default")
        @JsonPropertyDescription(
            "Whether this is the cluster's default class; at most one of a driver's classes can be."
                + " Default: false.")
        @Nullable Boolean isDefault,
    @JsonPropertyDescription(
            "Parameters that the driver gets with every new volume. Default: none.")
        @Nullable Map<String, String> parameters,
    @SchemaFrom(type = ReclaimPolicy.class)
        @JsonPropertyDescription(
            "What becomes of a volume whose claim is deleted. Default: Delete.")
        @Nullable String reclaimPolicy,
    @JsonPropertyDescription("Options with which volumes are mounted. Default: none.")
        @Nullable List<String> mountOptions,
    @JsonPropertyDescription("Whether claims can be expanded. Default: false.")
        @Nullable Boolean allowVolumeExpansion,
    @SchemaFrom(type = VolumeBindingMode.class)
        @JsonPropertyDescription(
            "When a volume is created for a claim: at once, or for its first pod. Default:"
                + " Immediate.")
        @Nullable String volumeBindingMode,
    @JsonPropertyDescription("Where volumes may be created. Default: everywhere.")
        @Nullable List<JsonNode> allowedTopologies) {

  public StorageClassTemplate {
    parameters = Written.copy(parameters);
    mountOptions = mountOptions == null ? null : List.copyOf(mountOptions);
    allowedTopologies = allowedTopologies == null ? null : List.copyOf(allowedTopologies);
  }

  /** The name of the class, empty where there is none. */
  public String name() {
    return metadata == null ? "" : metadata.path("name").asText();
  }
}
