package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINode;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is watched beside the owned objects: nodes and the drivers registered there, TLS secrets of
 * users, and other resources.
 *
 * @param <R> a kind of PMEM-CSI resource
 */
public final class PmemWatches<
    R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>> {

  /** The watch of the drivers that kubelets have registered. */
  static final String CSI_NODES = "csi-nodes";

  private static final String NODES = "nodes";
  private static final String SECRETS = "tls-secrets";
  private static final String PEERS = "peers-";
  private static final long NODES_PER_PAGE = 500;

  private final PmemPeer.Type<R> kind;
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
      PmemPeer.Type<R> kind,
      String namespace,
      OwnershipLabels ownership,
      Function<R, Optional<String>> tlsSecret) {
    this.kind = kind;
    this.type = kind.type();
    this.namespace = namespace;
    this.ownership = ownership;
    this.tlsSecret = tlsSecret;
  }

  public void forget(R resource) {
    conflicting.remove(resource.getMetadata().getName());
  }

  public List<EventSource<?, R>> eventSources(EventSourceContext<R> context) {
    InformerEventSource<Node, R> nodes = nodes(context);
    var sources = new ArrayList<EventSource<?, R>>();
    sources.add(nodes);
    sources.add(secrets(context));
    PmemPeer.Type.ALL.forEach(peer -> sources.add(peers(peer, context, nodes)));
    sources.add(registrations(context, nodes));
    return sources;
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

  /** All other resources that describe PMEM-CSI drivers, of every kind. */
  public List<PmemPeer> peers(R resource, ClusterReader<R> cluster) {
    PmemPeer self = kind.of(resource);
    return PmemPeer.Type.ALL.stream()
        .flatMap(peer -> watched(peer, cluster))
        .filter(peer -> !peer.isSameAs(self))
        .toList();
  }

  private <T extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>>
      Stream<PmemPeer> watched(PmemPeer.Type<T> peer, ClusterReader<R> cluster) {
    return cluster.watched(peer.type(), source(peer), _ -> true).stream().map(peer::of);
  }

  /** Whether other drivers manage the memory of the same nodes. */
  public Optional<DeploymentCondition> nodesExclusive(R resource, ClusterReader<R> cluster) {
    PmemPeer self = kind.of(resource);
    // before reading: a change between the read and its result must trigger, too
    conflicting.add(self.name());
    List<PmemPeer> peers =
        peers(resource, cluster).stream()
            // of two resources with one driver only the older one is deployed
            .filter(peer -> !peer.hasDriverOf(self))
            .toList();
    // most clusters have one driver
    List<Node> nodes =
        peers.isEmpty()
            ? List.of()
            : cluster.watched(Node.class, NODES, node -> selects(resource, labels(node)));
    Optional<DeploymentCondition> condition =
        NodeSharing.condition(
            self,
            peers,
            nodes.stream()
                .collect(
                    Collectors.toMap(node -> node.getMetadata().getName(), PmemWatches::labels)),
            resource.getStatus());
    if (condition.filter(NodeSharing::isShared).isEmpty()) {
      conflicting.remove(self.name());
    }
    return condition;
  }

  /** The names of all nodes. */
  Set<String> nodeNames(ClusterReader<R> cluster) {
    return cluster.watched(Node.class, NODES, _ -> true).stream()
        .map(node -> node.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  /** Only labels decide where a driver runs: heartbeats of nodes trigger nothing. */
  private InformerEventSource<Node, R> nodes(EventSourceContext<R> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(Node.class, type)
            .withName(NODES)
            .withWatchAllNamespaces()
            .withItemStore(ReducedStore.ofNodes())
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
   * those that share a node or the driver with it are triggered: all of them would cost the square
   * of their number.
   */
  private <T extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>>
      EventSource<?, R> peers(
          PmemPeer.Type<T> peers,
          EventSourceContext<R> context,
          InformerEventSource<Node, R> nodes) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(peers.type(), type)
            .withName(source(peers))
            .withWatchAllNamespaces()
            .withOnUpdateFilter(
                (now, before) ->
                    !Objects.equals(now.getSpec().nodeSelector(), before.getSpec().nodeSelector())
                        || NodeSharing.share(now.getSpec()) != NodeSharing.share(before.getSpec())
                        || !peers.driverName().apply(now).equals(peers.driverName().apply(before)))
            .withSecondaryToPrimaryMapper(peer -> neighbours(context, peers.of(peer), nodes))
            .build(),
        context);
  }

  private static String source(PmemPeer.Type<?> peers) {
    return PEERS + HasMetadata.getSingular(peers.type());
  }

  /** Kubelet registers and removes a driver without any change of its pods. */
  private EventSource<?, R> registrations(
      EventSourceContext<R> context, InformerEventSource<Node, R> nodes) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(CSINode.class, type)
            .withName(CSI_NODES)
            .withWatchAllNamespaces()
            .withItemStore(ReducedStore.ofRegisteredDrivers())
            .withInformerListLimit(NODES_PER_PAGE)
            .withOnUpdateFilter(
                (now, before) ->
                    !RegisteredNodes.drivers(now).equals(RegisteredNodes.drivers(before)))
            .withSecondaryToPrimaryMapper(
                registered ->
                    nodes
                        .get(ResourceID.fromResource(registered))
                        .map(node -> ids(context, resource -> selects(resource, labels(node))))
                        .orElse(Set.of()))
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
      EventSourceContext<R> context, PmemPeer peer, InformerEventSource<Node, R> nodes) {
    List<Map<String, String>> nodesOfPeer =
        nodes
            .list(node -> labels(node).entrySet().containsAll(peer.nodeSelector().entrySet()))
            .map(PmemWatches::labels)
            .distinct()
            .toList();
    return ids(
        context,
        resource -> {
          PmemPeer self = kind.of(resource);
          return !self.isSameAs(peer)
              && (self.hasDriverOf(peer)
                  || isConflicting(resource)
                  || nodesOfPeer.stream().anyMatch(labels -> selects(resource, labels)));
        });
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
