package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Brings the objects of one owner to what is wanted: looks first, refuses to start over a foreign
 * object, writes only what differs, then removes what is no longer wanted. It remembers nothing:
 * stopped at any point and started again, it ends in the same state.
 */
public final class Engine {

  private final OwnershipLabels marks;
  private final LegacyLabels formerLabels;
  private final LabelRetention keptLabels;
  private final KubernetesSerialization serialization;

  /**
   * An engine for one kind of resource that keeps former labels.
   *
   * @param fieldManager under which the cluster writes
   */
  public Engine(OwnershipLabels marks, String fieldManager, KubernetesSerialization serialization) {
    this(marks, fieldManager, LegacyLabels.KEEP, serialization);
  }

  /**
   * An engine for one kind of resource.
   *
   * @param fieldManager under which the cluster writes
   * @param formerLabels what becomes of labels that are no longer wanted
   */
  public Engine(
      OwnershipLabels marks,
      String fieldManager,
      LegacyLabels formerLabels,
      KubernetesSerialization serialization) {
    this.marks = marks;
    this.formerLabels = formerLabels;
    this.keptLabels = new LabelRetention(fieldManager);
    this.serialization = serialization;
  }

  /** One object that is wanted, marked, beside the one that is there. */
  private record Pair(HasMetadata wanted, Optional<HasMetadata> actual) {}

  public Outcome bring(Owner owner, DesiredState blueprint, Cluster cluster) {
    return bring(owner, blueprint, object -> false, cluster);
  }

  /**
   * The same for objects that the server may refuse: it is asked before anything is written.
   *
   * @param doubtful which objects to ask about, where they differ from what is there
   * @throws RefusedObjectException for the first one that the server would refuse
   */
  public Outcome bring(
      Owner owner, DesiredState blueprint, Predicate<HasMetadata> doubtful, Cluster cluster) {
    var report = new Report();
    List<Pair> pairs = look(owner, blueprint, cluster, report);
    if (!report.conflicts.isEmpty()) {
      return report.outcome();
    }
    pairs.stream()
        .filter(pair -> doubtful.test(pair.wanted()))
        .filter(pair -> pair.actual().filter(it -> cluster.matches(it, pair.wanted())).isEmpty())
        .forEach(pair -> cluster.rehearse(pair.wanted()));
    try {
      for (Pair pair : pairs) {
        if (pair.wanted() instanceof Secret && cluster.rests(pair.wanted())) {
          // others hold what is in it, certificates above all, and it is not in it now
          break;
        }
        write(pair, cluster, report);
      }
    } catch (NotOwnedException e) {
      report.conflicts.add(e.object());
      return report.outcome();
    }
    takeOver(cluster, report);
    prune(owner, cluster.ownedBy(owner), blueprint, cluster, report);
    return report.outcome();
  }

  /** Makes an object again that is gone; where there is one it stays as it is. */
  public Outcome restore(Owner owner, HasMetadata object, Cluster cluster) {
    var report = new Report();
    List<Pair> pairs = look(owner, DesiredState.of(List.of(object)), cluster, report);
    try {
      for (Pair pair : pairs) {
        if (pair.actual().isEmpty()) {
          write(pair, cluster, report);
        }
      }
    } catch (NotOwnedException e) {
      report.conflicts.add(e.object());
    }
    takeOver(cluster, report);
    return report.outcome();
  }

  /** Removes everything that was made for this owner. */
  public Outcome remove(Owner owner, Cluster cluster) {
    var report = new Report();
    prune(
        owner,
        union(cluster.ownedBy(owner), cluster.uncollected(owner)),
        DesiredState.of(List.of()),
        cluster,
        report);
    return report.outcome();
  }

  /** Leaves everything that was made for this owner as it is, to outlive the owner. */
  public void release(Owner owner, Cluster cluster) {
    for (HasMetadata object : union(cluster.ownedBy(owner), cluster.collected(owner))) {
      if (marks.on(object, owner)) {
        cluster.release(object, owner);
      }
    }
  }

  private static List<HasMetadata> union(List<HasMetadata> seen, List<HasMetadata> onServer) {
    var result = new ArrayList<>(seen);
    for (HasMetadata object : onServer) {
      if (seen.stream().noneMatch(other -> same(object, other))) {
        result.add(object);
      }
    }
    return result;
  }

  private List<Pair> look(Owner owner, DesiredState blueprint, Cluster cluster, Report report) {
    var wanted = new ArrayList<HasMetadata>();
    for (HasMetadata object : blueprint.wanted()) {
      HasMetadata marked = serialization.clone(object);
      marks.put(marked, owner);
      PortProtocols.fillIn(marked);
      wanted.add(marked);
    }
    List<Optional<HasMetadata>> found = cluster.findAll(wanted);
    var pairs = new ArrayList<Pair>();
    for (int i = 0; i < wanted.size(); i++) {
      if (found.get(i).filter(actual -> !marks.on(actual, owner)).isPresent()) {
        report.conflicts.add(ObjectRef.of(wanted.get(i)));
      }
      pairs.add(new Pair(wanted.get(i), found.get(i)));
    }
    return pairs;
  }

  private void write(Pair pair, Cluster cluster, Report report) {
    HasMetadata wanted = pair.wanted();
    var ref = ObjectRef.of(wanted);
    if (pair.actual().isEmpty() && cluster.rests(wanted)) {
      return;
    }
    if (pair.actual().isEmpty()) {
      report.created.add(new Pair(wanted, Optional.of(cluster.create(wanted))));
      report.applied.add(ref);
      return;
    }
    HasMetadata actual = pair.actual().get();
    if (actual.getMetadata().getDeletionTimestamp() != null) {
      report.pending.add(ref);
      return;
    }
    switch (formerLabels) {
      case KEEP -> keptLabels.carryOver(actual, wanted);
      case DROP -> {}
    }
    if (cluster.matches(actual, wanted)) {
      report.unchanged.add(ref);
      return;
    }
    try {
      cluster.apply(actual, wanted);
      report.applied.add(ref);
    } catch (ImmutableFieldException e) {
      recreate(actual, wanted, cluster, report);
    }
  }

  /** Last, as nobody waits for it; what a crash leaves out is made up for by the next apply. */
  private static void takeOver(Cluster cluster, Report report) {
    report.created.forEach(pair -> cluster.takeOver(pair.actual().orElseThrow(), pair.wanted()));
  }

  private void recreate(HasMetadata actual, HasMetadata wanted, Cluster cluster, Report report) {
    var ref = ObjectRef.of(wanted);
    if (cluster.delete(actual)) {
      report.created.add(new Pair(wanted, Optional.of(cluster.create(wanted))));
      report.recreated.add(ref);
    } else {
      report.pending.add(ref);
    }
  }

  private void prune(
      Owner owner,
      List<HasMetadata> objects,
      DesiredState blueprint,
      Cluster cluster,
      Report report) {
    var unwanted = new ArrayList<HasMetadata>();
    for (HasMetadata object : objects) {
      if (marks.on(object, owner) && !blueprint.wants(object)) {
        unwanted.add(object);
      }
    }
    for (Optional<HasMetadata> former : cluster.findAll(blueprint.formerly())) {
      former
          .filter(object -> marks.on(object, owner) && !blueprint.wants(object))
          .filter(object -> unwanted.stream().noneMatch(other -> same(object, other)))
          .ifPresent(unwanted::add);
    }
    unwanted.sort(Comparator.comparingInt(Engine::removalRank));
    for (HasMetadata object : unwanted) {
      var ref = ObjectRef.of(object);
      boolean dying = object.getMetadata().getDeletionTimestamp() != null;
      if (dying || !cluster.delete(object)) {
        report.pending.add(ref);
      }
      if (!dying) {
        report.pruned.add(ref);
      }
    }
  }

  private static boolean same(HasMetadata one, HasMetadata other) {
    return ObjectRef.of(one).isSameObjectAs(ObjectRef.of(other));
  }

  /** A webhook must go before the pods that answer it, and pods before the rights they use. */
  private static int removalRank(HasMetadata object) {
    return switch (object.getKind()) {
      case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration" -> 0;
      case "Deployment", "DaemonSet", "StatefulSet" -> 1;
      case "Service", "CSIDriver", "StorageClass" -> 2;
      case "RoleBinding", "ClusterRoleBinding" -> 3;
      default -> 4;
    };
  }

  /** Collects the outcome while the work goes on. */
  private static final class Report {
    private final List<Pair> created = new ArrayList<>();
    private final List<ObjectRef> applied = new ArrayList<>();
    private final List<ObjectRef> recreated = new ArrayList<>();
    private final List<ObjectRef> pruned = new ArrayList<>();
    private final List<ObjectRef> unchanged = new ArrayList<>();
    private final List<ObjectRef> pending = new ArrayList<>();
    private final List<ObjectRef> conflicts = new ArrayList<>();

    private Outcome outcome() {
      return new Outcome(applied, recreated, pruned, unchanged, pending, conflicts);
    }
  }
}
