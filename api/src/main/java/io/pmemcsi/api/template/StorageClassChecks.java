package io.pmemcsi.api.template;

import io.pmemcsi.api.Violation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rules for the storage classes of a driver that span several of them. */
final class StorageClassChecks {

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
    return found;
  }
}
