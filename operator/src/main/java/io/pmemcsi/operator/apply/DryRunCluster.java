package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A cluster for previews: writes are dry runs on the API server, and recorded as changes. */
public final class DryRunCluster implements Cluster {

  private final KubernetesClient client;
  private final FieldManager fieldManager;
  private final OwnedKinds kinds;
  private final List<Change> changes = new ArrayList<>();

  /**
   * The change of one object.
   *
   * @param before empty for a new object
   * @param after empty for a deleted object
   */
  public record Change(Optional<HasMetadata> before, Optional<HasMetadata> after) {}

  /**
   * A preview on the cluster of a client.
   *
   * @param kinds of objects that may have to be pruned
   */
  public DryRunCluster(KubernetesClient client, String fieldManager, OwnedKinds kinds) {
    this.client = client;
    this.fieldManager = new FieldManager(fieldManager, client.getKubernetesSerialization());
    this.kinds = kinds;
  }

  /** What the engine would do, in its order. */
  public List<Change> changes() {
    return List.copyOf(changes);
  }

  @Override
  public Optional<HasMetadata> find(HasMetadata desired) {
    return Optional.ofNullable(client.resource(desired).get());
  }

  @Override
  public List<HasMetadata> ownedBy(Owner owner) {
    return kinds.list(client, _ -> true, owner, fieldManager.name());
  }

  /** Always false: the server decides about every object. */
  @Override
  public boolean matches(HasMetadata actual, HasMetadata desired) {
    return false;
  }

  @Override
  public HasMetadata create(HasMetadata desired) {
    // the engine recreates an object right after it deleted it
    Optional<HasMetadata> replaced =
        changes.isEmpty() || changes.getLast().after().isPresent()
            ? Optional.empty()
            : changes
                .getLast()
                .before()
                .filter(old -> ObjectRef.of(old).isSameObjectAs(ObjectRef.of(desired)));
    if (replaced.isPresent()) {
      changes.removeLast();
    }
    changes.add(new Change(replaced, Optional.of(desired)));
    return desired;
  }

  /** Nothing was created. */
  @Override
  public void claimFields(HasMetadata created, HasMetadata desired) {}

  /** Never called: everything here is a dry run. */
  @Override
  public void dryRun(HasMetadata desired) {
    throw new UnsupportedOperationException("this is a dry run already: " + ObjectRef.of(desired));
  }

  @Override
  public void apply(HasMetadata actual, HasMetadata desired) {
    try {
      HasMetadata result = DryRun.apply(desired, fieldManager.name(), client);
      changes.add(
          new Change(
              Optional.of(actual),
              Optional.of(fieldManager.withoutForeignFields(result, desired))));
    } catch (KubernetesClientException e) {
      RuntimeException rejection = new ServerRejection(client).classify(e, desired);
      throw rejection instanceof ImmutableFieldException ? rejection : e;
    }
  }

  @Override
  public boolean delete(HasMetadata actual, DeletionPropagation propagation) {
    changes.add(new Change(Optional.of(actual), Optional.empty()));
    return true;
  }

  /** Never called: a preview applies, and releases nothing. */
  @Override
  public void release(HasMetadata actual, Owner owner) {
    throw new UnsupportedOperationException("a dry run releases nothing: " + ObjectRef.of(actual));
  }
}
