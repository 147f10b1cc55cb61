package io.pmemcsi.operator.tools.diff;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.Rendering;
import io.pmemcsi.operator.apply.Cluster;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.DryRunCluster;
import io.pmemcsi.operator.apply.DryRunCluster.Change;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.kinds.pmem.PmemPreview;
import io.pmemcsi.operator.kinds.pmem.PmemReconciler;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.kinds.template.TemplatePreview;
import io.pmemcsi.operator.kinds.template.TemplateReconciler;
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
 * Runs the operator's own engine for a resource that nobody has applied yet, on a cluster that
 * keeps nothing.
 */
public final class Preview {

  /** Stands in for what only the server can give to a resource that it does not have yet. */
  private static final String NO_UID = "00000000-0000-0000-0000-000000000000";

  /**
   * Later than all that exists: whatever is in the cluster already is older, even by less than the
   * second in which times are counted, and by whichever clock.
   */
  private static final String NOT_CREATED_YET = "9999-12-31T23:59:59Z";

  private final KubernetesClient client;
  private final ClusterFacts facts;
  private final TemplatePreview generic;
  private final Clock clock;
  private final ShownObject shown;

  /**
   * A preview on the cluster behind a client.
   *
   * @param config that of the operator in the cluster
   */
  public Preview(KubernetesClient client, ClusterFacts facts, OperatorConfig config, Clock clock) {
    this.client = client;
    this.facts = facts;
    this.generic = new TemplatePreview(client, facts, config, clock);
    this.clock = clock;
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
    return switch (resource) {
      case PmemCSIDeployment pmem ->
          run(
              pmem,
              live,
              PmemPreview.blueprint(
                  pmem, facts, this::secret, this::deployment, this::webhook, clock.instant()),
              LabelRetention.KEEP);
      case CSIDriverDeployment template -> of(template, live);
      default ->
          run(
              resource,
              live,
              DesiredState.of(new Rendering().objects(resource, facts)),
              LabelRetention.KEEP);
    };
  }

  private ResourceDiff of(CSIDriverDeployment resource, Optional<HasMetadata> live) {
    if (TemplatePreview.isLeftAlone(resource)) {
      return new ResourceDiff(
          List.of(own(resource, live)),
          List.of(),
          List.of("managementState is Unmanaged: the operator leaves all objects as they are"));
    }
    DesiredState blueprint = generic.blueprint(resource);
    TemplatePreview.Hindrance hindrance = generic.hindrance(resource);
    return hindrance.reasons().isEmpty()
        ? run(resource, live, blueprint, LabelRetention.DROP)
        : hindered(resource, live, hindrance);
  }

  private ResourceDiff hindered(
      CSIDriverDeployment resource,
      Optional<HasMetadata> live,
      TemplatePreview.Hindrance hindrance) {
    ResourceDiff rest =
        hindrance
            .restored()
            .map(
                object ->
                    run(
                        resource,
                        live,
                        LabelRetention.DROP,
                        (engine, cluster) -> engine.restore(Owner.of(resource), object, cluster)))
            .orElseGet(() -> new ResourceDiff(List.of(own(resource, live)), List.of(), List.of()));
    String verdict =
        rest.objects().size() == 1
            ? "the operator would write nothing: "
            : "the operator would write nothing else: ";
    return new ResourceDiff(
        rest.objects(),
        rest.conflicts(),
        hindrance.reasons().stream().map(verdict::concat).toList());
  }

  private ResourceDiff run(
      HasMetadata resource,
      Optional<HasMetadata> live,
      DesiredState blueprint,
      LabelRetention formerLabels) {
    return run(
        resource,
        live,
        formerLabels,
        (engine, cluster) -> engine.apply(Owner.of(resource), blueprint, cluster));
  }

  private ResourceDiff run(
      HasMetadata resource,
      Optional<HasMetadata> live,
      LabelRetention formerLabels,
      BiFunction<Engine, Cluster, Outcome> play) {
    boolean template = resource instanceof CSIDriverDeployment;
    String manager = template ? TemplateReconciler.FIELD_MANAGER : PmemReconciler.FIELD_MANAGER;
    var marks = new OwnershipLabels(HasMetadata.getGroup(resource.getClass()));
    var cluster =
        new DryRunCluster(
            client, manager, marks, template ? TemplatePreview.kinds() : PmemPreview.kinds());
    Outcome outcome =
        play.apply(
            new Engine(marks, manager, formerLabels, client.getKubernetesSerialization()), cluster);
    var diffs = new ArrayList<ObjectDiff>();
    diffs.add(own(resource, live));
    cluster.changes().stream().map(change -> diff(change, outcome)).forEach(diffs::add);
    return new ResourceDiff(diffs, outcome.conflicts(), List.of());
  }

  private Optional<Secret> secret(String name) {
    return Optional.ofNullable(
        client.secrets().inNamespace(facts.namespace()).withName(name).get());
  }

  private Optional<Deployment> deployment(String name) {
    return Optional.ofNullable(
        client.apps().deployments().inNamespace(facts.namespace()).withName(name).get());
  }

  private Optional<MutatingWebhookConfiguration> webhook(String name) {
    return Optional.ofNullable(
        client.admissionRegistration().v1().mutatingWebhookConfigurations().withName(name).get());
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
