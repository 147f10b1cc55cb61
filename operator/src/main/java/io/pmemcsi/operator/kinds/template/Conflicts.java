package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Other resources that want the same. Whoever has it keeps it, because volumes may be in use; where
 * nobody has it yet, or nothing in the cluster shows who has it, the older one gets it. The other
 * one is told. Times are counted in whole seconds: within one, the name decides.
 *
 * @param config decides where sockets lie
 * @param holders of names in the whole cluster
 */
record Conflicts(OperatorConfig config, NameOwners holders) {

  private static final Comparator<HasMetadata> BY_AGE =
      Comparator.comparing((HasMetadata one) -> text(one.getMetadata().getCreationTimestamp()))
          .thenComparing(one -> text(one.getMetadata().getNamespace()))
          .thenComparing(one -> text(one.getMetadata().getName()));

  /** One line for each other resource that is in the way. */
  List<String> of(
      CSIDriverDeployment resource,
      Collection<CSIDriverDeployment> others,
      Optional<PmemCSIDeployment> sameNamedPmem) {
    var lines = new ArrayList<String>();
    others.stream()
        .filter(other -> !isSame(other, resource))
        .sorted(BY_AGE)
        .forEach(
            other -> {
              List<String> lost = won(other, resource);
              if (!lost.isEmpty()) {
                lines.add(line(lost, title(other), isOlder(other, resource)));
              }
            });
    String driverName = ExclusiveNames.of(resource, config).driverName();
    sameNamedPmem
        .filter(pmem -> isOlder(pmem, resource))
        .filter(_ -> !isHeldBy(holders.ofDriver(driverName), resource))
        .ifPresent(
            pmem ->
                lines.add(
                    line(
                        List.of("the driver name \"%s\"".formatted(driverName)),
                        "PmemCSIDeployment \"%s\"".formatted(pmem.getMetadata().getName()),
                        true)));
    return lines;
  }

  /** Those that are to be told, now that this one wants the same. */
  List<CSIDriverDeployment> losers(
      CSIDriverDeployment resource, Collection<CSIDriverDeployment> others) {
    return others.stream()
        .filter(other -> !isSame(other, resource))
        .filter(other -> !won(resource, other).isEmpty())
        .toList();
  }

  /** How a resource is called in what the others are told. */
  static String title(CSIDriverDeployment resource) {
    return "CSIDriverDeployment \"%s\" in namespace \"%s\""
        .formatted(resource.getMetadata().getName(), resource.getMetadata().getNamespace());
  }

  /** What both want and the first one gets. */
  private List<String> won(CSIDriverDeployment one, CSIDriverDeployment other) {
    ExclusiveNames claims = ExclusiveNames.of(one, config);
    boolean older = isOlder(one, other);
    return claims.sharedWith(ExclusiveNames.of(other, config)).stream()
        .filter(
            shared -> {
              Optional<String> holder = holder(shared);
              return isHeldBy(holder, one) || (older && !isHeldBy(holder, other));
            })
        .map(ExclusiveNames.Shared::describe)
        .toList();
  }

  private Optional<String> holder(ExclusiveNames.Shared shared) {
    return switch (shared) {
      case ExclusiveNames.Shared.Driver driver -> holders.ofDriver(driver.name());
      case ExclusiveNames.Shared.Socket socket -> holders.ofDriver(socket.driver());
      case ExclusiveNames.Shared.StorageClass one -> holders.ofStorageClass(one.name());
      case ExclusiveNames.Shared.Port _ -> Optional.empty();
    };
  }

  private static boolean isHeldBy(Optional<String> holder, HasMetadata resource) {
    return holder.filter(text(resource.getMetadata().getUid())::equals).isPresent();
  }

  private static String line(List<String> shared, String other, boolean older) {
    return "%s%s has %s already: change or delete one of the two"
        .formatted(
            other,
            older ? ", which is older," : "",
            shared.stream().collect(Collectors.joining(" and ")));
  }

  private static boolean isOlder(HasMetadata one, HasMetadata other) {
    return !isSame(one, other) && BY_AGE.compare(one, other) < 0;
  }

  private static boolean isSame(HasMetadata one, HasMetadata other) {
    return one.getKind().equals(other.getKind())
        && text(one.getMetadata().getUid()).equals(text(other.getMetadata().getUid()));
  }

  private static String text(String value) {
    return value == null ? "" : value;
  }
}
