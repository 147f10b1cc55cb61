package io.pmemcsi.controller.volume;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the few fields of a pod that matter here and skips the rest: a fraction of what reading the
 * whole object would cost.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PodJson(@Nullable Metadata metadata, @Nullable Spec spec) {

  private static final ObjectReader READER = JsonMapper.builder().build().readerFor(PodJson.class);

  /** Reads a pod at the current position of a parser. */
  public static PodJson read(JsonParser parser) throws IOException {
    return READER.readValue(parser);
  }

  /** The pod with its volumes; names that are missing are empty. */
  public PodVolumes volumes(String defaultNamespace) {
    Metadata meta = metadata == null ? new Metadata(null, null, null, null) : metadata;
    var volumes = new ArrayList<PodVolumes.Volume>();
    if (spec != null && spec.volumes() != null) {
      for (Volume volume : spec.volumes()) {
        volume.add(volumes);
      }
    }
    String namespace = text(meta.namespace());
    return new PodVolumes(
        namespace.isEmpty() ? defaultNamespace : namespace,
        text(meta.name()),
        text(meta.uid()),
        volumes);
  }

  /** The pod's labels. */
  public Map<String, String> labels() {
    return metadata == null || metadata.labels() == null ? Map.of() : metadata.labels();
  }

  /** The resources of the first container; empty if the pod has no container. */
  public Optional<Container> firstContainer() {
    return spec == null || spec.containers() == null || spec.containers().isEmpty()
        ? Optional.empty()
        : Optional.of(spec.containers().getFirst());
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Metadata(
      @Nullable String name,
      @Nullable String namespace,
      @Nullable String uid,
      @Nullable Map<String, String> labels) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Spec(@Nullable List<Volume> volumes, @Nullable List<Container> containers) {}

  /** A container with its resources. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Container(@Nullable Resources resources) {}

  /** The resources of a container. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Resources(
      @Nullable Map<String, Object> requests, @Nullable Map<String, Object> limits) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Volume(
      @Nullable String name,
      @Nullable ClaimSource persistentVolumeClaim,
      @Nullable CsiSource csi,
      @Nullable EphemeralSource ephemeral) {

    void add(List<PodVolumes.Volume> volumes) {
      if (persistentVolumeClaim != null) {
        volumes.add(
            new PodVolumes.ClaimReference(text(name), text(persistentVolumeClaim.claimName())));
      } else if (csi != null) {
        volumes.add(new PodVolumes.Inline(text(name), text(csi.driver()), csi.size()));
      } else if (ephemeral != null) {
        volumes.add(new PodVolumes.Generic(text(name), ephemeral.className(), ephemeral.request()));
      }
    }
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record ClaimSource(@Nullable String claimName) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record CsiSource(@Nullable String driver, @Nullable Map<String, String> volumeAttributes) {

    String size() {
      return volumeAttributes == null ? "" : volumeAttributes.getOrDefault("size", "");
    }
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record EphemeralSource(@Nullable Template volumeClaimTemplate) {

    String className() {
      ClaimSpec spec = spec();
      return spec == null ? "" : text(spec.storageClassName());
    }

    String request() {
      ClaimSpec spec = spec();
      if (spec == null || spec.resources() == null || spec.resources().requests() == null) {
        return "";
      }
      Object storage = spec.resources().requests().get("storage");
      return storage == null ? "" : storage.toString();
    }

    private @Nullable ClaimSpec spec() {
      return volumeClaimTemplate == null ? null : volumeClaimTemplate.spec();
    }
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Template(@Nullable ClaimSpec spec) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record ClaimSpec(@Nullable String storageClassName, @Nullable Resources resources) {}
}
