package io.pmemcsi.controller.volume;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the few fields of a pod that matter here and skips the rest: a fraction of what reading the
 * whole object would cost.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PodJson(@Nullable Metadata metadata, @Nullable Spec spec) {

  /** The label by which pods and namespaces opt out of the webhook; the same for every driver. */
  public static final String WEBHOOK_LABEL = "pmem-csi.intel.com/webhook";

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

  /** The value of the label by which a pod opts out of the webhook; empty without it. */
  public String webhookLabel() {
    return metadata == null || metadata.labels() == null ? "" : text(metadata.labels().webhook());
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
      @Nullable Labels labels) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Labels(@JsonProperty(WEBHOOK_LABEL) @Nullable String webhook) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Spec(@Nullable List<Volume> volumes, @Nullable List<Container> containers) {}

  /** A container with its resources. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Container(@Nullable Resources resources) {}

  /** The resources of a container. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Resources(@Nullable Amounts requests, @Nullable Amounts limits) {}

  /** Amounts of resources, of which only storage matters. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Amounts(@Nullable Object storage) {}

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
        Attributes attributes =
            csi.volumeAttributes() == null ? new Attributes(null, null) : csi.volumeAttributes();
        volumes.add(
            new PodVolumes.Inline(
                text(name),
                text(csi.driver()),
                text(attributes.size()),
                NumaNode.normalize(text(attributes.numaNode()))));
      } else if (ephemeral != null) {
        volumes.add(new PodVolumes.Generic(text(name), ephemeral.className(), ephemeral.request()));
      }
    }
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record ClaimSource(@Nullable String claimName) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record CsiSource(@Nullable String driver, @Nullable Attributes volumeAttributes) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record Attributes(@Nullable String size, @Nullable String numaNode) {}

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
      Object storage = spec.resources().requests().storage();
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
