package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.controller.ClusterReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which resources own names of the whole cluster, as observed.
 *
 * @param drivers the uid of the owner by the name of a CSIDriver
 * @param storageClasses the same by the name of a storage class
 */
record NameOwners(Map<String, String> drivers, Map<String, String> storageClasses) {

  static final NameOwners NONE = new NameOwners(Map.of(), Map.of());

  NameOwners {
    drivers = Map.copyOf(drivers);
    storageClasses = Map.copyOf(storageClasses);
  }

  /** The owners of the names that a resource shares with others. */
  static NameOwners observe(
      ExclusiveNames names,
      Collection<ExclusiveNames> peers,
      ClusterReader<CSIDriverDeployment> cluster) {
    var drivers = new HashMap<String, String>();
    var classes = new HashMap<String, String>();
    driver(names.driverName(), cluster).ifPresent(uid -> drivers.put(names.driverName(), uid));
    for (ExclusiveNames peer : peers) {
      for (ExclusiveNames.Shared shared : names.sharedWith(peer)) {
        switch (shared) {
          case ExclusiveNames.Shared.Driver _, ExclusiveNames.Shared.Port _ -> {}
          case ExclusiveNames.Shared.Socket socket ->
              driver(socket.driver(), cluster).ifPresent(uid -> drivers.put(socket.driver(), uid));
          case ExclusiveNames.Shared.StorageClass one ->
              storageClass(one.name(), cluster).ifPresent(uid -> classes.put(one.name(), uid));
        }
      }
    }
    return new NameOwners(drivers, classes);
  }

  Optional<String> ofDriver(String name) {
    return Optional.ofNullable(drivers.get(name));
  }

  Optional<String> of(ExclusiveNames.Shared shared) {
    return switch (shared) {
      case ExclusiveNames.Shared.Driver driver -> ofDriver(driver.name());
      case ExclusiveNames.Shared.Socket socket -> ofDriver(socket.driver());
      case ExclusiveNames.Shared.StorageClass one ->
          Optional.ofNullable(storageClasses.get(one.name()));
      case ExclusiveNames.Shared.Port _ -> Optional.empty();
    };
  }

  private static Optional<String> driver(String name, ClusterReader<CSIDriverDeployment> cluster) {
    return name.isEmpty()
        ? Optional.empty()
        : uid(
            cluster.find(
                new CSIDriverBuilder().withNewMetadata().withName(name).endMetadata().build()));
  }

  private static Optional<String> storageClass(
      String name, ClusterReader<CSIDriverDeployment> cluster) {
    return uid(
        cluster.find(
            new StorageClassBuilder().withNewMetadata().withName(name).endMetadata().build()));
  }

  private static Optional<String> uid(Optional<? extends HasMetadata> object) {
    return object
        .map(found -> found.getMetadata().getLabels())
        .map(labels -> labels.get(TemplateKind.LABELS.uidLabel()));
  }
}
