package io.pmemcsi.operator.tools.diff;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.operator.apply.Cluster;
import io.pmemcsi.operator.apply.DryRunCluster;
import io.pmemcsi.operator.apply.DryRunCluster.Change;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.controller.ApiReader;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.tools.diff.ObjectDiff.Fate;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Observes and decides as the operator does, for a resource that is not applied yet, and runs its
 * apply engine on a cluster that keeps nothing.
 */
public final class Preview {

  /** Stands in for what only the server can give to a resource that it does not have yet. */
  private static final String NO_UID = "00000000-0000-0000-0000-000000000000";

  /**
   * Later than everything that exists: any resource in the cluster is older, even by less than the
   * second in which ages count, and by any clock.
   */
  private static final String NOT_CREATED_YET = "9999-12-31T23:59:59Z";

  private final KubernetesClient client;
  private final ClusterFacts facts;
  private final Kinds kinds;
  private final ShownObject shown;

  /**
   * A preview on the cluster behind a client.
   *
   * @param config that of the operator in the cluster
   */
  public Preview(KubernetesClient client, ClusterFacts facts, OperatorConfig config, Clock clock) {
    this.client = client;
    this.facts = facts;
    this.kinds = Kinds.preview(client, facts, config, clock);
    this.shown = new ShownObject(client.getKubernetesSerialization());
  }

  /** What applying this resource would change; it has been read and checked. */
  public ResourceDiff of(HasMetadata resource) {
    if (resource instanceof Namespaced && resource.getMetadata().getNamespace() == null) {
      resource.getMetadata().setNamespace(facts.namespace());
    }
    Optional<HasMetadata> live = Optional.ofNullable(client.resource(resource).get());
    var metadata = resource.getMetadata();
    metadata.setUid(live.map(found -> found.getMetadata().getUid()).orElse(NO_UID));
    metadata.setCreationTimestamp(
        live.map(found -> found.getMetadata().getCreationTimestamp()).orElse(NOT_CREATED_YET));
    return kinds.all().stream()
        .flatMap(kind -> diff(kind, resource, live).stream())
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException(resource.getKind() + " has not been checked"));
  }

  private <R extends CustomResource<?, S>, S, O, P extends Plan<R>> Optional<ResourceDiff> diff(
      DriverKind<R, S, O, P, ?> kind, HasMetadata given, Optional<HasMetadata> live) {
    Class<R> type = kind.traits().type();
    if (!type.isInstance(given)) {
      return Optional.empty();
    }
    R resource = type.cast(given);
    if (!kind.isManaged(resource)) {
      return Optional.of(
          new ResourceDiff(
              List.of(own(resource, live)),
              List.of(),
              List.of(
                  "managementState is Unmanaged: the operator leaves all objects as they are")));
    }
    O observed = kind.observe(resource, new ApiReader<>(resource, kind.traits(), client));
    return Optional.of(
        switch (kind.decide(resource, observed).action()) {
          case Plan.Action.Apply apply ->
              run(
                  kind.traits(),
                  resource,
                  live,
                  (engine, cluster) -> engine.apply(Owner.of(resource), apply.desired(), cluster));
          case Plan.Action.Block block -> blocked(kind.traits(), resource, live, block);
        });
  }

  private ResourceDiff blocked(
      KindTraits<?> traits,
      HasMetadata resource,
      Optional<HasMetadata> live,
      Plan.Action.Block block) {
    Optional<BiFunction<Engine, Cluster, Outcome>> step = step(Owner.of(resource), block);
    if (step.isEmpty() && isMistake(block.problem().cause())) {
      throw new FatalException("the operator would refuse it: " + block.problem().message());
    }
    ResourceDiff written =
        step.map(write -> run(traits, resource, live, write))
            .orElseGet(() -> new ResourceDiff(List.of(own(resource, live)), List.of(), List.of()));
    String verdict =
        written.objects().size() == 1
            ? "the operator would write nothing: "
            : "the operator would write nothing else: ";
    return new ResourceDiff(
        written.objects(),
        written.conflicts(),
        block.problem().message().lines().map(verdict::concat).toList());
  }

  /** The one object that the operator writes although the resource is blocked. */
  private static Optional<BiFunction<Engine, Cluster, Outcome>> step(
      Owner owner, Plan.Action.Block block) {
    return block
        .restore()
        .<BiFunction<Engine, Cluster, Outcome>>map(
            object -> (engine, cluster) -> engine.restore(owner, object, cluster))
        .or(
            () ->
                block
                    .overwrite()
                    .map(object -> (engine, cluster) -> engine.overwrite(owner, object, cluster)));
  }

  /** Whether the user has to change the resource, or what it refers to. */
  private static boolean isMistake(Problem.Cause cause) {
    return cause == Problem.Cause.INVALID || cause == Problem.Cause.CERTIFICATES;
  }

  private ResourceDiff run(
      KindTraits<?> traits,
      HasMetadata resource,
      Optional<HasMetadata> live,
      BiFunction<Engine, Cluster, Outcome> step) {
    var cluster = new DryRunCluster(client, traits.fieldManager(), traits.owned());
    Outcome outcome =
        step.apply(
            new Engine(
                traits.owned().ownership(),
                traits.fieldManager(),
                traits.labelRetention(),
                client.getKubernetesSerialization()),
            cluster);
    var diffs = new ArrayList<ObjectDiff>();
    diffs.add(own(resource, live));
    cluster.changes().stream().map(change -> diff(change, outcome)).forEach(diffs::add);
    return new ResourceDiff(diffs, outcome.conflicts(), List.of());
  }

  /** As {@code kubectl apply} does it: the spec of the file counts, labels are added. */
  private ObjectDiff own(HasMetadata resource, Optional<HasMetadata> live) {
    var ref = ObjectRef.of(resource);
    String after = shown.text(resource);
    if (live.isEmpty()) {
      return new ObjectDiff(ref, Fate.CREATED, UnifiedDiff.of("", after));
    }
    KubernetesSerialization serialization = client.getKubernetesSerialization();
    HasMetadata merged = serialization.clone(resource);
    var metadata = merged.getMetadata();
    var old = live.get().getMetadata();
    metadata.setLabels(merged(old.getLabels(), metadata.getLabels()));
    metadata.setAnnotations(merged(old.getAnnotations(), metadata.getAnnotations()));
    String hunks = UnifiedDiff.of(shown.text(live.get()), shown.text(merged));
    return new ObjectDiff(ref, hunks.isEmpty() ? Fate.UNCHANGED : Fate.CHANGED, hunks);
  }

  private ObjectDiff diff(Change change, Outcome outcome) {
    String before = change.before().map(shown::text).orElse("");
    String after = change.after().map(shown::text).orElse("");
    HasMetadata any = change.after().or(change::before).orElseThrow();
    var ref = ObjectRef.of(any);
    String hunks = UnifiedDiff.of(before, after);
    if (change.before().isEmpty()) {
      return new ObjectDiff(ref, Fate.CREATED, hunks);
    }
    if (change.after().isEmpty()) {
      return new ObjectDiff(ref, Fate.DELETED, hunks);
    }
    boolean recreated = outcome.recreated().stream().anyMatch(ref::isSameObjectAs);
    return new ObjectDiff(
        ref, recreated ? Fate.RECREATED : hunks.isEmpty() ? Fate.UNCHANGED : Fate.CHANGED, hunks);
  }

  private static Map<String, String> merged(
      @Nullable Map<String, String> live, @Nullable Map<String, String> written) {
    var result = new LinkedHashMap<String, String>();
    if (live != null) {
      result.putAll(live);
    }
    if (written != null) {
      result.putAll(written);
    }
    return result;
  }
}
