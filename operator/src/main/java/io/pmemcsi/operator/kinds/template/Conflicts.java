package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Other resources that need the same exclusive name. The resource that has it keeps it, because
 * volumes may be in use; where none has it yet, or the cluster does not show which one, the older
 * resource gets it. The other one reports the conflict. Ages count in whole seconds: within one,
 * the name decides.
 *
 * @param config decides where sockets are
 * @param owners of names in the whole cluster
 */
record Conflicts(OperatorConfig config, NameOwners owners) {

  private static final Comparator<HasMetadata> BY_AGE =
      Comparator.comparing((HasMetadata one) -> text(one.getMetadata().getCreationTimestamp()))
          .thenComparing(one -> text(one.getMetadata().getNamespace()))
          .thenComparing(one -> text(one.getMetadata().getName()));

  /**
   * A conflict that a resource has lost.
   *
   * @param winner the resource that has the name
   */
  record Conflict(ResourceID winner, String message) {}

  /**
   * What keeps a resource from being deployed, by the age of the others.
   *
   * @param peers resources of the same kind
   * @param sameDriver resources of other kinds with the same driver name
   */
  List<Conflict> of(
      CSIDriverDeployment resource,
      Collection<CSIDriverDeployment> peers,
      Collection<? extends HasMetadata> sameDriver) {
    var conflicts = new ArrayList<Conflict>();
    peers.stream()
        .filter(peer -> !isSame(peer, resource))
        .sorted(BY_AGE)
        .forEach(
            peer -> {
              List<String> lost = won(peer, resource);
              if (!lost.isEmpty()) {
                conflicts.add(conflict(lost, peer, isOlder(peer, resource)));
              }
            });
    String driverName = ExclusiveNames.of(resource, config).driverName();
    sameDriver.stream()
        .filter(other -> isOlder(other, resource))
        .filter(_ -> !isOwnedBy(owners.ofDriver(driverName), resource))
        .sorted(BY_AGE)
        .forEach(
            other ->
                conflicts.add(
                    conflict(
                        List.of("the driver name \"%s\"".formatted(driverName)), other, true)));
    return conflicts;
  }

  /** Peers whose conflict with this resource is decided for this resource. */
  List<CSIDriverDeployment> conflictingPeers(
      CSIDriverDeployment resource, Collection<CSIDriverDeployment> peers) {
    return peers.stream()
        .filter(peer -> !isSame(peer, resource))
        .filter(peer -> !won(resource, peer).isEmpty())
        .toList();
  }

  /** What both need and the first one gets. */
  private List<String> won(CSIDriverDeployment one, CSIDriverDeployment other) {
    boolean older = isOlder(one, other);
    return ExclusiveNames.of(one, config).sharedWith(ExclusiveNames.of(other, config)).stream()
        .filter(
            shared -> {
              Optional<String> owner = owners.of(shared);
              return isOwnedBy(owner, one) || (older && !isOwnedBy(owner, other));
            })
        .map(ExclusiveNames.Shared::describe)
        .toList();
  }

  private static boolean isOwnedBy(Optional<String> owner, HasMetadata resource) {
    return owner.filter(text(resource.getMetadata().getUid())::equals).isPresent();
  }

  private static Conflict conflict(List<String> shared, HasMetadata other, boolean older) {
    return new Conflict(
        ResourceID.fromResource(other),
        "%s%s has %s already: change or delete one of the two"
            .formatted(
                title(other), older ? ", which is older," : "", String.join(" and ", shared)));
  }

  private static String title(HasMetadata resource) {
    String namespace = resource.getMetadata().getNamespace();
    return "%s \"%s\"%s"
        .formatted(
            resource.getKind(),
            resource.getMetadata().getName(),
            namespace == null ? "" : " in namespace \"%s\"".formatted(namespace));
  }

  private static boolean isOlder(HasMetadata one, HasMetadata other) {
    return !isSame(one, other) && BY_AGE.compare(one, other) < 0;
  }

  private static boolean isSame(HasMetadata one, HasMetadata other) {
    return one.getKind().equals(other.getKind())
        && text(one.getMetadata().getUid()).equals(text(other.getMetadata().getUid()));
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }
}
