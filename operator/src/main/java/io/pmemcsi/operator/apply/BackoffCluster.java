package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Optional;

/**
 * A cluster in which objects that somebody else keeps changing are mended only now and then.
 *
 * @param page what is known about the objects of the owner
 */
record BackoffCluster(Cluster cluster, ConflictingManagers rivals, DriftBackoff.Page page)
    implements Cluster {

  @Override
  public Optional<HasMetadata> find(HasMetadata wanted) {
    return cluster.find(wanted);
  }

  @Override
  public List<Optional<HasMetadata>> findAll(List<HasMetadata> wanted) {
    return cluster.findAll(wanted);
  }

  @Override
  public List<HasMetadata> ownedBy(Owner owner) {
    return cluster.ownedBy(owner);
  }

  @Override
  public List<HasMetadata> uncollected(Owner owner) {
    return cluster.uncollected(owner);
  }

  @Override
  public List<HasMetadata> collected(Owner owner) {
    return cluster.collected(owner);
  }

  /** While an object rests it passes for what is wanted. */
  @Override
  public boolean matches(HasMetadata actual, HasMetadata wanted) {
    if (cluster.matches(actual, wanted)) {
      page.found(wanted);
      return true;
    }
    return page.rests(wanted);
  }

  @Override
  public boolean rests(HasMetadata wanted) {
    return page.rests(wanted);
  }

  @Override
  public HasMetadata create(HasMetadata wanted) {
    HasMetadata created = cluster.create(wanted);
    // what an earlier look has made, or found, is gone
    if (!page.first()) {
      page.mended(wanted, List.of());
    }
    return created;
  }

  @Override
  public void takeOver(HasMetadata created, HasMetadata wanted) {
    cluster.takeOver(created, wanted);
  }

  @Override
  public void rehearse(HasMetadata wanted) {
    cluster.rehearse(wanted);
  }

  @Override
  public void apply(HasMetadata actual, HasMetadata wanted) {
    List<String> others = rivals.of(actual, wanted);
    cluster.apply(actual, wanted);
    // not before: what failed and is tried again was changed by nobody in between
    if (!others.isEmpty()) {
      page.mended(wanted, others);
    }
  }

  @Override
  public boolean delete(HasMetadata actual) {
    return cluster.delete(actual);
  }

  @Override
  public void release(HasMetadata actual, Owner owner) {
    cluster.release(actual, owner);
  }
}
