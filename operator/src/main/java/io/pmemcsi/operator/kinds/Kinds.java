package io.pmemcsi.operator.kinds;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.kinds.legacy.LegacyKind;
import io.pmemcsi.operator.kinds.pmem.PmemKind;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.kinds.template.TemplateKind;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.usage.ApiUsage;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The registry of kinds: the one place that names each of them. The program, {@code render}, {@code
 * diff}, the operator's own RBAC and the search for conflicts iterate over it.
 */
public record Kinds(List<DriverKind<?, ?, ?, ?, ?>> all) {

  public Kinds {
    all = List.copyOf(all);
  }

  /** For a running operator. */
  public static Kinds of(
      String namespace,
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      UsageReader usage,
      NodeUpdates nodeUpdates,
      Clock clock) {
    return of(namespace, facts, config, usage, Optional.of(nodeUpdates), clock);
  }

  /** For a preview on a cluster. */
  public static Kinds preview(
      KubernetesClient client, ClusterFacts facts, OperatorConfig config, Clock clock) {
    return of(
        facts.namespace(),
        () -> facts,
        () -> config,
        new ApiUsage(client, clock),
        Optional.empty(),
        clock);
  }

  /** Without a cluster: the kinds own what they can own on any. */
  public static Kinds offline() {
    return of(
        "any",
        () ->
            new ClusterFacts(
                KubernetesVersion.NEWEST_KNOWN, "any", "any", EnumSet.allOf(ServedApi.class)),
        () -> OperatorConfig.DEFAULT,
        DriverUsage::none,
        Optional.empty(),
        Clock.systemUTC());
  }

  private static Kinds of(
      String namespace,
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      UsageReader usage,
      Optional<NodeUpdates> nodeUpdates,
      Clock clock) {
    var pmem = new PmemKind(namespace, facts, usage, clock);
    var legacy = new LegacyKind(namespace, facts, usage, clock);
    return new Kinds(
        List.of(
            pmem,
            legacy,
            new TemplateKind(facts, config, usage, nodeUpdates, List.of(pmem, legacy))));
  }

  /** The ownership labels of every kind. */
  public List<OwnershipLabels> ownershipLabels() {
    return all.stream().map(kind -> kind.traits().owned().ownership()).toList();
  }
}
