package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A cluster in which drift that comes back at once is reverted only once per interval.
 *
 * @param history of the owner's objects
 */
record BackoffCluster(Cluster cluster, FieldManager fieldManager, DriftBackoff.History history)
    implements Cluster {

  @Override
  public Optional<HasMetadata> find(HasMetadata desired) {
    return cluster.find(desired);
  }

  @Override
  public <T, R> List<R> sendAll(List<T> items, Function<T, R> request) {
    return cluster.sendAll(items, request);
  }

  @Override
  public List<HasMetadata> ownedBy(Owner owner) {
    return cluster.ownedBy(owner);
  }

  @Override
  public List<HasMetadata> notGarbageCollected(Owner owner) {
    return cluster.notGarbageCollected(owner);
  }

  @Override
  public List<HasMetadata> garbageCollected(Owner owner) {
    return cluster.garbageCollected(owner);
  }

  /** In back-off an object counts as desired. */
  @Override
  public boolean matches(HasMetadata actual, HasMetadata desired) {
    if (cluster.matches(actual, desired)) {
      history.observed(desired);
      return true;
    }
    return history.inBackoff(desired);
  }

  @Override
  public boolean inBackoff(HasMetadata desired) {
    return history.inBackoff(desired);
  }

  @Override
  public HasMetadata create(HasMetadata desired) {
    HasMetadata created = cluster.create(desired);
    // an earlier reconciliation created or found it: it was deleted since
    if (!history.isNew()) {
      history.reverted(desired, List.of());
    }
    return created;
  }

  @Override
  public void claimFields(HasMetadata created, HasMetadata desired) {
    cluster.claimFields(created, desired);
  }

  @Override
  public void dryRun(HasMetadata desired) {
    cluster.dryRun(desired);
  }

  @Override
  public void apply(HasMetadata actual, HasMetadata desired) {
    List<String> managers = fieldManager.conflictingManagers(actual, desired);
    cluster.apply(actual, desired);
    // only after success: a retry of a failed apply reverts the same drift
    if (!managers.isEmpty()) {
      history.reverted(desired, managers);
    }
  }

  @Override
  public boolean delete(HasMetadata actual, DeletionPropagation propagation) {
    return cluster.delete(actual, propagation);
  }

  @Override
  public void release(HasMetadata actual, Owner owner) {
    cluster.release(actual, owner);
  }
}
