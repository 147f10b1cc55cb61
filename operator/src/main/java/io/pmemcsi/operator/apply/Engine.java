package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Applies the desired state of one owner: finds the existing objects, writes nothing if one of them
 * is not owned, applies those that differ, then prunes those that are no longer desired. It keeps
 * no state: stopped at any point and started again, it ends in the same cluster state.
 */
public final class Engine {

  private final OwnershipLabels ownership;
  private final LabelRetention labelRetention;
  private final FieldManager fieldManager;
  private final Clock clock;

  /**
   * An engine for one kind of resource that keeps labels which are no longer desired.
   *
   * @param fieldManager under which the cluster writes
   */
  public Engine(
      OwnershipLabels ownership, String fieldManager, KubernetesSerialization serialization) {
    this(ownership, fieldManager, LabelRetention.KEEP, serialization);
  }

  /**
   * An engine for one kind of resource.
   *
   * @param fieldManager under which the cluster writes
   */
  public Engine(
      OwnershipLabels ownership,
      String fieldManager,
      LabelRetention labelRetention,
      KubernetesSerialization serialization) {
    this(ownership, fieldManager, labelRetention, serialization, Clock.systemUTC());
  }

  Engine(
      OwnershipLabels ownership,
      String fieldManager,
      LabelRetention labelRetention,
      KubernetesSerialization serialization,
      Clock clock) {
    this.clock = clock;
    this.ownership = ownership;
    this.labelRetention = labelRetention;
    this.fieldManager = new FieldManager(fieldManager, serialization);
  }

  /** A desired object with its ownership labels, and the existing object. */
  private record Pair(HasMetadata desired, Optional<HasMetadata> actual) {

    boolean matchesOn(Cluster cluster) {
      return actual.filter(found -> cluster.matches(found, desired)).isPresent();
    }
  }

  /** What became of one desired object. */
  private sealed interface Result {
    record Unchanged() implements Result {}

    record Created(Pair pair) implements Result {}

    record Applied(ObjectRef object) implements Result {}

    record Recreated(Pair pair) implements Result {}

    record Pending(ObjectRef object) implements Result {}

    record NotOwned(ObjectRef object) implements Result {}
  }

  public Outcome apply(Owner owner, DesiredState desired, Cluster cluster) {
    return apply(owner, desired, object -> false, cluster);
  }

  /**
   * Applies the desired state after a dry run of the objects that the server may refuse.
   *
   * @param dryRunFirst which objects to dry-run, where they differ from the existing ones
   * @throws RefusedObjectException for the first one that the server would refuse
   */
  public Outcome apply(
      Owner owner, DesiredState desired, Predicate<HasMetadata> dryRunFirst, Cluster cluster) {
    var report = new Report();
    List<Pair> pairs = find(owner, desired.objects(), cluster, report);
    if (!report.conflicts.isEmpty()) {
      return report.outcome();
    }
    cluster.sendAll(
        pairs.stream()
            .filter(pair -> dryRunFirst.test(pair.desired()))
            .filter(pair -> !pair.matchesOn(cluster))
            .toList(),
        pair -> {
          cluster.dryRun(pair.desired());
          return pair;
        });
    for (List<Pair> stage : Stage.inOrder(writable(pairs, cluster), Pair::desired)) {
      cluster.sendAll(stage, pair -> write(pair, cluster)).forEach(report::add);
      if (!report.conflicts.isEmpty()) {
        return report.outcome();
      }
    }
    claimFields(cluster, report);
    report.add(StagedDeletion.prune(undesired(owner, desired, cluster), cluster, clock));
    return report.outcome();
  }

  /** Objects after a secret in back-off hold data of it, such as a CA, which it lacks now. */
  private static List<Pair> writable(List<Pair> pairs, Cluster cluster) {
    return pairs.stream()
        .takeWhile(pair -> !(pair.desired() instanceof Secret && cluster.inBackoff(pair.desired())))
        .toList();
  }

  /** Creates an object if it does not exist; an existing one is not changed. */
  public Outcome restore(Owner owner, HasMetadata object, Cluster cluster) {
    return write(owner, object, pair -> pair.actual().isEmpty(), cluster);
  }

  /** Applies one object that exists, and leaves all others alone. */
  public Outcome overwrite(Owner owner, HasMetadata object, Cluster cluster) {
    return write(owner, object, pair -> pair.actual().isPresent(), cluster);
  }

  private Outcome write(Owner owner, HasMetadata object, Predicate<Pair> which, Cluster cluster) {
    var report = new Report();
    find(owner, List.of(object), cluster, report).stream()
        .filter(which)
        .map(pair -> write(pair, cluster))
        .forEach(report::add);
    claimFields(cluster, report);
    return report.outcome();
  }

  /** Deletes all objects of the owner; complete once they, and their pods, no longer exist. */
  public Outcome remove(Owner owner, Cluster cluster) {
    List<HasMetadata> objects =
        union(cluster.ownedBy(owner), cluster.notGarbageCollected(owner)).stream()
            .filter(object -> ownership.isOwnedBy(object, owner))
            .toList();
    var report = new Report();
    report.add(StagedDeletion.remove(objects, cluster, clock));
    return report.outcome();
  }

  /** Removes the owner reference from all objects of the owner, so that they outlive it. */
  public void release(Owner owner, Cluster cluster) {
    for (HasMetadata object : union(cluster.ownedBy(owner), cluster.garbageCollected(owner))) {
      if (ownership.isOwnedBy(object, owner)) {
        cluster.release(object, owner);
      }
    }
  }

  private static List<HasMetadata> union(List<HasMetadata> cached, List<HasMetadata> onServer) {
    var result = new ArrayList<>(cached);
    for (HasMetadata object : onServer) {
      if (cached.stream().noneMatch(other -> same(object, other))) {
        result.add(object);
      }
    }
    return result;
  }

  private List<Pair> find(Owner owner, List<HasMetadata> objects, Cluster cluster, Report report) {
    var desired = new ArrayList<HasMetadata>();
    for (HasMetadata object : objects) {
      HasMetadata labelled = fieldManager.serialization().clone(object);
      ownership.addTo(labelled, owner);
      FieldManager.setKeyDefaults(labelled);
      desired.add(labelled);
    }
    List<Optional<HasMetadata>> found = cluster.sendAll(desired, cluster::find);
    var pairs = new ArrayList<Pair>();
    for (int i = 0; i < desired.size(); i++) {
      if (found.get(i).filter(actual -> !ownership.isOwnedBy(actual, owner)).isPresent()) {
        report.conflicts.add(ObjectRef.of(desired.get(i)));
      }
      pairs.add(new Pair(desired.get(i), found.get(i)));
    }
    return pairs;
  }

  private Result write(Pair pair, Cluster cluster) {
    try {
      return pair.actual().isEmpty()
          ? create(pair.desired(), cluster)
          : update(pair.actual().get(), pair.desired(), cluster);
    } catch (NotOwnedException e) {
      return new Result.NotOwned(e.object());
    }
  }

  private static Result create(HasMetadata desired, Cluster cluster) {
    return cluster.inBackoff(desired)
        ? new Result.Unchanged()
        : new Result.Created(new Pair(desired, Optional.of(cluster.create(desired))));
  }

  private Result update(HasMetadata actual, HasMetadata desired, Cluster cluster) {
    var ref = ObjectRef.of(desired);
    if (StagedDeletion.isTerminating(actual)) {
      return new Result.Pending(ref);
    }
    switch (labelRetention) {
      case KEEP -> fieldManager.retainLabels(actual, desired);
      case DROP -> {}
    }
    if (cluster.matches(actual, desired)) {
      return new Result.Unchanged();
    }
    try {
      cluster.apply(actual, desired);
      return new Result.Applied(ref);
    } catch (ImmutableFieldException e) {
      return cluster.delete(actual, DeletionPropagation.BACKGROUND)
          ? new Result.Recreated(new Pair(desired, Optional.of(cluster.create(desired))))
          : new Result.Pending(ref);
    }
  }

  /** Last, because nothing depends on it; after a crash the next apply does the same. */
  private static void claimFields(Cluster cluster, Report report) {
    cluster.sendAll(
        report.created,
        pair -> {
          cluster.claimFields(pair.actual().orElseThrow(), pair.desired());
          return pair;
        });
  }

  private List<HasMetadata> undesired(Owner owner, DesiredState desired, Cluster cluster) {
    var result = new ArrayList<HasMetadata>();
    for (HasMetadata object : cluster.ownedBy(owner)) {
      if (ownership.isOwnedBy(object, owner) && !desired.contains(object)) {
        result.add(object);
      }
    }
    for (Optional<HasMetadata> legacy : cluster.sendAll(desired.legacyObjects(), cluster::find)) {
      legacy
          .filter(object -> ownership.isOwnedBy(object, owner) && !desired.contains(object))
          .filter(object -> result.stream().noneMatch(other -> same(object, other)))
          .ifPresent(result::add);
    }
    return result;
  }

  private static boolean same(HasMetadata one, HasMetadata other) {
    return ObjectRef.of(one).isSameObjectAs(ObjectRef.of(other));
  }

  /** Collects the outcome. */
  private static final class Report {
    private final List<Pair> created = new ArrayList<>();
    private final List<ObjectRef> applied = new ArrayList<>();
    private final List<ObjectRef> recreated = new ArrayList<>();
    private final List<ObjectRef> pruned = new ArrayList<>();
    private final List<ObjectRef> pending = new ArrayList<>();
    private final List<ObjectRef> conflicts = new ArrayList<>();

    private void add(Result result) {
      switch (result) {
        case Result.Unchanged() -> {}
        case Result.Created(Pair pair) -> {
          created.add(pair);
          applied.add(ObjectRef.of(pair.desired()));
        }
        case Result.Applied(ObjectRef object) -> applied.add(object);
        case Result.Recreated(Pair pair) -> {
          created.add(pair);
          recreated.add(ObjectRef.of(pair.desired()));
        }
        case Result.Pending(ObjectRef object) -> pending.add(object);
        case Result.NotOwned(ObjectRef object) -> conflicts.add(object);
      }
    }

    private void add(StagedDeletion.Result deletion) {
      pruned.addAll(deletion.deleted());
      pending.addAll(deletion.pending());
    }

    private Outcome outcome() {
      return new Outcome(applied, recreated, pruned, pending, conflicts);
    }
  }
}
