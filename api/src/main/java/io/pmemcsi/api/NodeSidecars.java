package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** The sidecars beside a driver that provisions volumes on every node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeSidecars(
    @JsonPropertyDescription(
            "External provisioner. Its resources take precedence over provisionerResources."
                + " Default: the defaults of its fields.")
        @Nullable Sidecar provisioner,
    @JsonPropertyDescription(
            "External resizer. Its resources take precedence over provisionerResources. Default: the"
                + " defaults of its fields.")
        @Nullable Sidecar resizer,
    @JsonPropertyDescription(
            "External snapshotter, which runs where the cluster has the snapshot API. Its resources"
                + " take precedence over provisionerResources. Default: the defaults of its"
                + " fields.")
        @Nullable Sidecar snapshotter,
    @JsonPropertyDescription(
            "Node driver registrar. Its resources take precedence over nodeRegistrarResources."
                + " Default: the defaults of its fields.")
        @Nullable Sidecar nodeRegistrar) {

  /** No settings. */
  public static final NodeSidecars DEFAULT = new NodeSidecars(null, null, null, null);
}
