package io.pmemcsi.operator.objects;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.TopologySelectorTerm;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.StorageClassTemplate;
import io.pmemcsi.api.Written;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The storage classes of a driver.
 *
 * @param labels of every class, which those of a template do not overwrite
 */
public record StorageClasses(String driverName, Map<String, String> labels) {

  public static final String DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  public StorageClasses {
    labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
  }

  public List<HasMetadata> objects(List<StorageClassTemplate> templates) {
    return templates.stream().map(template -> (HasMetadata) storageClass(template)).toList();
  }

  private StorageClass storageClass(StorageClassTemplate template) {
    Map<String, String> all = texts(template.metadata(), "labels");
    all.putAll(labels);
    Map<String, String> annotations = texts(template.metadata(), "annotations");
    if (template.isDefault() != null || !annotations.containsKey(DEFAULT_CLASS)) {
      annotations.put(DEFAULT_CLASS, String.valueOf(Boolean.TRUE.equals(template.isDefault())));
    }
    return new StorageClassBuilder()
        .withMetadata(
            new ObjectMetaBuilder()
                .withName(template.name())
                .withLabels(all)
                .withAnnotations(annotations)
                .build())
        .withProvisioner(driverName)
        .withParameters(template.parameters())
        .withReclaimPolicy(Written.text(template.reclaimPolicy()).orElse("Delete"))
        .withMountOptions(Optional.ofNullable(template.mountOptions()).orElse(List.of()))
        .withAllowVolumeExpansion(template.allowVolumeExpansion())
        .withVolumeBindingMode(Written.text(template.volumeBindingMode()).orElse("Immediate"))
        .withAllowedTopologies(
            Optional.ofNullable(template.allowedTopologies()).orElse(List.of()).stream()
                .map(term -> JSON.convertValue(term, TopologySelectorTerm.class))
                .toList())
        .build();
  }

  /** A map of texts in the metadata of a template, to be changed by the caller. */
  static Map<String, String> texts(@Nullable JsonNode metadata, String field) {
    var result = new TreeMap<String, String>();
    if (metadata != null) {
      metadata
          .path(field)
          .properties()
          .forEach(entry -> result.put(entry.getKey(), entry.getValue().asText()));
    }
    return result;
  }
}
