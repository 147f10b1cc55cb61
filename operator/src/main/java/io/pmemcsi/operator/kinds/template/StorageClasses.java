package io.pmemcsi.operator.kinds.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.TopologySelectorTerm;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.StorageClassTemplate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The storage classes of a driver. */
record StorageClasses(TemplateDriver driver) {

  static final String DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  List<HasMetadata> objects() {
    return driver.settings().storageClassTemplates().stream()
        .map(template -> (HasMetadata) storageClass(template))
        .toList();
  }

  private StorageClass storageClass(StorageClassTemplate template) {
    Map<String, String> labels = texts(template.metadata(), "labels");
    labels.putAll(driver.labels());
    Map<String, String> annotations = texts(template.metadata(), "annotations");
    if (template.isDefault() != null || !annotations.containsKey(DEFAULT_CLASS)) {
      annotations.put(DEFAULT_CLASS, String.valueOf(Boolean.TRUE.equals(template.isDefault())));
    }
    return new StorageClassBuilder()
        .withMetadata(
            new ObjectMetaBuilder()
                .withName(template.name())
                .withLabels(labels)
                .withAnnotations(annotations)
                .build())
        .withProvisioner(driver.driverName())
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

  private static Map<String, String> texts(@Nullable JsonNode metadata, String field) {
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
