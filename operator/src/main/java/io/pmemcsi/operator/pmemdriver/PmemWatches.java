package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.controller.ClusterReader;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What is watched beside the owned objects: nodes, TLS secrets of users, and other resources.
 *
 * @param <R> a kind of PMEM-CSI resource
 */
public final class PmemWatches<
    R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>> {

  private static final String NODES = "nodes";
  private static final String SECRETS = "tls-secrets";
  private static final String PEERS = "peers";
  private static final long NODES_PER_PAGE = 500;

  private final Class<R> type;
  private final String namespace;
  private final OwnershipLabels ownership;
  private final Function<R, Optional<String>> tlsSecret;

  /** Names of resources that shared a node when they were last observed. */
  private final Set<String> conflicting = ConcurrentHashMap.newKeySet();

  /**
   * The watches for a kind.
   *
   * @param namespace of the operator and of the drivers
   * @param tlsSecret the name of the user's secret in a resource
   */
  public PmemWatches(
      Class<R> type,
      String namespace,
      OwnershipLabels ownership,
      Function<R, Optional<String>> tlsSecret) {
    this.type = type;
    this.namespace = namespace;
    this.ownership = ownership;
    this.tlsSecret = tlsSecret;
  }

  public void forget(R resource) {
    conflicting.remove(resource.getMetadata().getName());
  }

  public List<EventSource<?, R>> eventSources(EventSourceContext<R> context) {
    InformerEventSource<Node, R> nodes = nodes(context);
    return List.of(nodes, secrets(context), peers(context, nodes));
  }

  /** A secret of the user in the operator's namespace. */
  public Optional<Secret> secret(String name, ClusterReader<R> cluster) {
    return cluster.watched(secret(name), SECRETS);
  }

  /** A secret that the operator wrote: it must see its last write, or it would issue again. */
  public Optional<Secret> ownSecret(String name, ClusterReader<R> cluster) {
    return cluster.find(secret(name));
  }

  private Secret secret(String name) {
    return new SecretBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .build();
  }

  /** Whether other drivers manage the memory of the same nodes. */
  public Optional<DeploymentCondition> nodesExclusive(R resource, ClusterReader<R> cluster) {
    String name = resource.getMetadata().getName();
    // before reading: a change between the read and its result must trigger, too
    conflicting.add(name);
    Optional<DeploymentCondition> condition =
        NodeSharing.condition(
            NodeSharing.selector(resource.getSpec()),
            cluster
                .watched(type, PEERS, peer -> !peer.getMetadata().getName().equals(name))
                .stream()
                .collect(
                    Collectors.toMap(
                        peer -> peer.getMetadata().getName(),
                        peer -> NodeSharing.selector(peer.getSpec()))),
            cluster.watched(Node.class, NODES, _ -> true).stream()
                .collect(
                    Collectors.toMap(node -> node.getMetadata().getName(), PmemWatches::labels)),
            resource.getStatus());
    if (condition.filter(NodeSharing::isConflict).isEmpty()) {
      conflicting.remove(name);
    }
    return condition;
  }

  /** Only labels decide where a driver runs: heartbeats of nodes trigger nothing. */
  private InformerEventSource<Node, R> nodes(EventSourceContext<R> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(Node.class, type)
            .withName(NODES)
            .withWatchAllNamespaces()
            .withItemStore(new LabelledNodes())
            .withInformerListLimit(NODES_PER_PAGE)
            .withOnAddFilter(_ -> true)
            .withOnUpdateFilter((now, before) -> !Objects.equals(labels(now), labels(before)))
            .withSecondaryToPrimaryMapper(
                node -> ids(context, resource -> concerns(resource, labels(node))))
            .build(),
        context);
  }

  private EventSource<?, R> secrets(EventSourceContext<R> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(Secret.class, type)
            .withName(SECRETS)
            .withNamespaces(Set.of(namespace))
            // owned ones are in another cache
            .withLabelSelector("!" + ownership.uidLabel())
            .withSecondaryToPrimaryMapper(
                secret -> {
                  var name = Optional.of(secret.getMetadata().getName());
                  return ids(context, resource -> tlsSecret.apply(resource).equals(name));
                })
            .build(),
        context);
  }

  /**
   * A resource that is created, deleted or moved may start or end a conflict with others. Only
   * those that share a node with it are triggered: all of them would cost the square of their
   * number.
   */
  private EventSource<?, R> peers(
      EventSourceContext<R> context, InformerEventSource<Node, R> nodes) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(type, type)
            .withName(PEERS)
            .withWatchAllNamespaces()
            .withOnUpdateFilter(
                (now, before) ->
                    !Objects.equals(now.getSpec().nodeSelector(), before.getSpec().nodeSelector()))
            .withSecondaryToPrimaryMapper(peer -> neighbours(context, peer, nodes))
            .build(),
        context);
  }

  private boolean concerns(R resource, Map<String, String> labels) {
    return isConflicting(resource) || selects(resource, labels);
  }

  private boolean isConflicting(R resource) {
    return conflicting.contains(resource.getMetadata().getName());
  }

  private Set<ResourceID> neighbours(
      EventSourceContext<R> context, R peer, InformerEventSource<Node, R> nodes) {
    List<Map<String, String>> nodesOfPeer =
        nodes
            .list(node -> selects(peer, labels(node)))
            .map(PmemWatches::labels)
            .distinct()
            .toList();
    return ids(
        context,
        resource ->
            !resource.getMetadata().getName().equals(peer.getMetadata().getName())
                && (isConflicting(resource)
                    || nodesOfPeer.stream().anyMatch(labels -> selects(resource, labels))));
  }

  private boolean selects(R resource, Map<String, String> labels) {
    return labels.entrySet().containsAll(NodeSharing.selector(resource.getSpec()).entrySet());
  }

  private Set<ResourceID> ids(EventSourceContext<R> context, Predicate<R> which) {
    return context
        .getPrimaryCache()
        .list(which)
        .map(ResourceID::fromResource)
        .collect(Collectors.toSet());
  }

  private static Map<String, String> labels(HasMetadata object) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }
}
