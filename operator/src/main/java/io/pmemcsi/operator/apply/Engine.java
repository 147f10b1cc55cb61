package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.util.ArrayList;
import java.util.Comparator;
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
    this.ownership = ownership;
    this.labelRetention = labelRetention;
    this.fieldManager = new FieldManager(fieldManager, serialization);
  }

  /** A desired object with its ownership labels, and the existing object. */
  private record Pair(HasMetadata desired, Optional<HasMetadata> actual) {}

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
    pairs.stream()
        .filter(pair -> dryRunFirst.test(pair.desired()))
        .filter(pair -> pair.actual().filter(it -> cluster.matches(it, pair.desired())).isEmpty())
        .forEach(pair -> cluster.dryRun(pair.desired()));
    try {
      for (Pair pair : pairs) {
        if (pair.desired() instanceof Secret && cluster.inBackoff(pair.desired())) {
          // the objects after it hold data of this secret, such as a CA, which it lacks now
          break;
        }
        write(pair, cluster, report);
      }
    } catch (NotOwnedException e) {
      report.conflicts.add(e.object());
      return report.outcome();
    }
    claimFields(cluster, report);
    prune(owner, cluster.ownedBy(owner), desired, cluster, report);
    return report.outcome();
  }

  /** Creates an object if it does not exist; an existing one is not changed. */
  public Outcome restore(Owner owner, HasMetadata object, Cluster cluster) {
    var report = new Report();
    List<Pair> pairs = find(owner, List.of(object), cluster, report);
    try {
      for (Pair pair : pairs) {
        if (pair.actual().isEmpty()) {
          write(pair, cluster, report);
        }
      }
    } catch (NotOwnedException e) {
      report.conflicts.add(e.object());
    }
    claimFields(cluster, report);
    return report.outcome();
  }

  /** Deletes all objects of the owner. */
  public Outcome remove(Owner owner, Cluster cluster) {
    var report = new Report();
    prune(
        owner,
        union(cluster.ownedBy(owner), cluster.notGarbageCollected(owner)),
        DesiredState.of(List.of()),
        cluster,
        report);
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
    List<Optional<HasMetadata>> found = cluster.findAll(desired);
    var pairs = new ArrayList<Pair>();
    for (int i = 0; i < desired.size(); i++) {
      if (found.get(i).filter(actual -> !ownership.isOwnedBy(actual, owner)).isPresent()) {
        report.conflicts.add(ObjectRef.of(desired.get(i)));
      }
      pairs.add(new Pair(desired.get(i), found.get(i)));
    }
    return pairs;
  }

  private void write(Pair pair, Cluster cluster, Report report) {
    HasMetadata desired = pair.desired();
    var ref = ObjectRef.of(desired);
    if (pair.actual().isEmpty() && cluster.inBackoff(desired)) {
      return;
    }
    if (pair.actual().isEmpty()) {
      report.created.add(new Pair(desired, Optional.of(cluster.create(desired))));
      report.applied.add(ref);
      return;
    }
    HasMetadata actual = pair.actual().get();
    if (actual.getMetadata().getDeletionTimestamp() != null) {
      report.pending.add(ref);
      return;
    }
    switch (labelRetention) {
      case KEEP -> fieldManager.retainLabels(actual, desired);
      case DROP -> {}
    }
    if (cluster.matches(actual, desired)) {
      return;
    }
    try {
      cluster.apply(actual, desired);
      report.applied.add(ref);
    } catch (ImmutableFieldException e) {
      recreate(actual, desired, cluster, report);
    }
  }

  /** Last, because nothing depends on it; after a crash the next apply does the same. */
  private static void claimFields(Cluster cluster, Report report) {
    report.created.forEach(
        pair -> cluster.claimFields(pair.actual().orElseThrow(), pair.desired()));
  }

  private void recreate(HasMetadata actual, HasMetadata desired, Cluster cluster, Report report) {
    var ref = ObjectRef.of(desired);
    if (cluster.delete(actual)) {
      report.created.add(new Pair(desired, Optional.of(cluster.create(desired))));
      report.recreated.add(ref);
    } else {
      report.pending.add(ref);
    }
  }

  private void prune(
      Owner owner,
      List<HasMetadata> objects,
      DesiredState desired,
      Cluster cluster,
      Report report) {
    var undesired = new ArrayList<HasMetadata>();
    for (HasMetadata object : objects) {
      if (ownership.isOwnedBy(object, owner) && !desired.contains(object)) {
        undesired.add(object);
      }
    }
    for (Optional<HasMetadata> legacy : cluster.findAll(desired.legacyObjects())) {
      legacy
          .filter(object -> ownership.isOwnedBy(object, owner) && !desired.contains(object))
          .filter(object -> undesired.stream().noneMatch(other -> same(object, other)))
          .ifPresent(undesired::add);
    }
    undesired.sort(Comparator.comparingInt(Engine::removalRank));
    for (HasMetadata object : undesired) {
      var ref = ObjectRef.of(object);
      boolean terminating = object.getMetadata().getDeletionTimestamp() != null;
      if (terminating || !cluster.delete(object)) {
        report.pending.add(ref);
      }
      if (!terminating) {
        report.pruned.add(ref);
      }
    }
  }

  private static boolean same(HasMetadata one, HasMetadata other) {
    return ObjectRef.of(one).isSameObjectAs(ObjectRef.of(other));
  }

  /** Webhooks before the pods that serve them, and pods before the permissions that they use. */
  private static int removalRank(HasMetadata object) {
    return switch (object.getKind()) {
      case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration" -> 0;
      case "Deployment", "DaemonSet", "StatefulSet" -> 1;
      case "Service", "CSIDriver", "StorageClass" -> 2;
      case "RoleBinding", "ClusterRoleBinding" -> 3;
      default -> 4;
    };
  }

  /** Collects the outcome. */
  private static final class Report {
    private final List<Pair> created = new ArrayList<>();
    private final List<ObjectRef> applied = new ArrayList<>();
    private final List<ObjectRef> recreated = new ArrayList<>();
    private final List<ObjectRef> pruned = new ArrayList<>();
    private final List<ObjectRef> pending = new ArrayList<>();
    private final List<ObjectRef> conflicts = new ArrayList<>();

    private Outcome outcome() {
      return new Outcome(applied, recreated, pruned, pending, conflicts);
    }
  }
}
