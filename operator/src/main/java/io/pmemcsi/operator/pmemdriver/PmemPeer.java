package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A resource that describes a PMEM-CSI driver, as far as others depend on it.
 *
 * @param driverName as the resource has it, correct or not
 * @param share of the memory of a node, in percent
 * @param created when, in the notation of the API server
 */
public record PmemPeer(
    String kind,
    String name,
    String driverName,
    Map<String, String> nodeSelector,
    int share,
    String created,
    String uid) {

  public PmemPeer {
    nodeSelector = Map.copyOf(nodeSelector);
  }

  /**
   * A kind of such resources.
   *
   * @param driverName the name of the CSI driver in a resource
   */
  public record Type<T extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>>(
      Class<T> type, Function<T, String> driverName) {

    public static final Type<PmemCSIDeployment> V1BETA1 =
        new Type<>(PmemCSIDeployment.class, resource -> resource.getMetadata().getName());

    public static final Type<LegacyDeployment> V1ALPHA1 =
        new Type<>(
            LegacyDeployment.class,
            resource ->
                Written.text(resource.getSpec().driverName())
                    .orElseGet(() -> resource.getMetadata().getName()));

    static final List<Type<?>> ALL = List.of(V1BETA1, V1ALPHA1);

    public PmemPeer of(T resource) {
      var metadata = resource.getMetadata();
      return new PmemPeer(
          HasMetadata.getKind(type),
          metadata.getName(),
          driverName.apply(resource),
          NodeSharing.selector(resource.getSpec()),
          NodeSharing.share(resource.getSpec()),
          String.valueOf(metadata.getCreationTimestamp()),
          String.valueOf(metadata.getUid()));
    }
  }

  boolean selects(Map<String, String> labels) {
    return labels.entrySet().containsAll(nodeSelector.entrySet());
  }

  boolean isSameAs(PmemPeer other) {
    return kind.equals(other.kind) && name.equals(other.name);
  }

  boolean hasDriverOf(PmemPeer other) {
    return driverName.equals(other.driverName);
  }

  /** What to call it in a message about a resource of this kind. */
  String title(PmemPeer other) {
    return kind.equals(other.kind) ? name : kind + " " + name;
  }

  /** Two resources that describe one driver: the older one has it. */
  public Optional<String> conflict(List<PmemPeer> others) {
    return others.stream()
        .filter(this::hasDriverOf)
        .filter(other -> !isSameAs(other) && other.isOlderThan(this))
        .findFirst()
        .map(
            other ->
                "driver name \"%s\" is used by %s \"%s\", which is older: choose another name, or delete one of the two resources"
                    .formatted(driverName, other.kind, other.name));
  }

  private boolean isOlderThan(PmemPeer other) {
    int age = created.compareTo(other.created);
    return age == 0 ? uid.compareTo(other.uid) < 0 : age < 0;
  }
}
