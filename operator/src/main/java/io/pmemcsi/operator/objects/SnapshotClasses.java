package io.pmemcsi.operator.objects;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.pmemcsi.api.SnapshotClassTemplate;
import io.pmemcsi.api.Written;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The snapshot classes of a driver.
 *
 * @param labels of every class, which those of a template do not overwrite
 */
public record SnapshotClasses(String driverName, Map<String, String> labels) {

  private static final String DEFAULT_CLASS = "snapshot.storage.kubernetes.io/is-default-class";

  public SnapshotClasses {
    labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
  }

  public List<HasMetadata> objects(List<SnapshotClassTemplate> templates) {
    return templates.stream().map(template -> (HasMetadata) snapshotClass(template)).toList();
  }

  private VolumeSnapshotClass snapshotClass(SnapshotClassTemplate template) {
    Map<String, String> all = StorageClasses.texts(template.metadata(), "labels");
    all.putAll(labels);
    Map<String, String> annotations = StorageClasses.texts(template.metadata(), "annotations");
    if (template.isDefault() != null || !annotations.containsKey(DEFAULT_CLASS)) {
      annotations.put(DEFAULT_CLASS, String.valueOf(Boolean.TRUE.equals(template.isDefault())));
    }
    var result = new VolumeSnapshotClass();
    result.setMetadata(
        new ObjectMetaBuilder()
            .withName(template.name())
            .withLabels(all)
            .withAnnotations(annotations)
            .build());
    result.setDriver(driverName);
    result.setDeletionPolicy(Written.text(template.deletionPolicy()).orElse("Delete"));
    result.setParameters(template.parameters());
    return result;
  }
}
