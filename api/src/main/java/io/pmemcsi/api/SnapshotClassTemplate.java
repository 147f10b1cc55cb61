package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Required;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A VolumeSnapshotClass without its driver, which is always that of the resource. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SnapshotClassTemplate(
    @Required @JsonPropertyDescription("Name, labels and annotations of the snapshot class.")
        @Nullable JsonNode metadata,
    @JsonProperty("default")
        @JsonPropertyDescription(
            "Whether this is the default class for volumes of the driver; at most one of its"
                + " classes can be. Default: false.")
        @Nullable Boolean isDefault,
    @JsonPropertyDescription(
            "Parameters that the driver gets with every new snapshot. Default: none.")
        @Nullable Map<String, String> parameters,
    @SchemaFrom(type = SnapshotDeletionPolicy.class)
        @JsonPropertyDescription(
            "What becomes of a snapshot whose VolumeSnapshot is deleted. Default: Delete.")
        @Nullable String deletionPolicy) {

  public SnapshotClassTemplate {
    parameters = Written.copy(parameters);
  }

  /** The name of the class, empty where there is none. */
  public String name() {
    return metadata == null ? "" : metadata.path("name").asText();
  }
}
