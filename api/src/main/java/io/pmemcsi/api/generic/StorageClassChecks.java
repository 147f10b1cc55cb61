package io.pmemcsi.api.generic;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.TopologySelectorTerm;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.WrongType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rules for the storage classes of a driver that no schema can express. */
final class StorageClassChecks {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private StorageClassChecks() {}

  static List<Violation> check(CSIDriverDeploymentSpec spec) {
    List<StorageClassTemplate> classes =
        Optional.ofNullable(spec.storageClassTemplates()).orElse(List.of());
    List<Violation> found = new ArrayList<>();
    if (classes.stream().filter(one -> Boolean.TRUE.equals(one.isDefault())).count() > 1) {
      found.add(new Violation("spec", "", CSIDriverDeploymentChecks.ONE_DEFAULT));
    }
    Set<String> names = new HashSet<>();
    classes.stream()
        .map(StorageClassTemplate::name)
        .filter(name -> !name.isEmpty() && !names.add(name))
        .distinct()
        .map(name -> new Violation("spec", name, CSIDriverDeploymentChecks.UNIQUE_CLASSES))
        .forEach(found::add);
    for (int i = 0; i < classes.size(); i++) {
      found.addAll(topologies("spec.storageClassTemplates[%d]".formatted(i), classes.get(i)));
    }
    return found;
  }

  private static List<Violation> topologies(String field, StorageClassTemplate template) {
    List<JsonNode> terms = Optional.ofNullable(template.allowedTopologies()).orElse(List.of());
    List<Violation> found = new ArrayList<>();
    for (int i = 0; i < terms.size(); i++) {
      try {
        JSON.convertValue(terms.get(i), TopologySelectorTerm.class);
      } catch (IllegalArgumentException e) {
        found.add(WrongType.in("%s.allowedTopologies[%d]".formatted(field, i), e));
      }
    }
    return found;
  }
}
