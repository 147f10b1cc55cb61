package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What wakes the reconciler, and the caches that come with it. */
final class PmemEventSources {

  static final OwnershipLabels MARKS = new OwnershipLabels(PmemCSIDeployment.GROUP);

  /** Of which an object may be made for a resource. */
  static final List<Class<? extends HasMetadata>> KINDS =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          Secret.class,
          io.fabric8.kubernetes.api.model.Service.class,
          Deployment.class,
          DaemonSet.class,
          MutatingWebhookConfiguration.class);

  private static final String NODES = "nodes";
  private static final String SECRETS = "tls-secrets";
  private static final String PEERS = "peers";
  private static final long NODES_AT_ONCE = 500;

  private final String namespace;
  private final OwnedKinds owned;

  /** As the last look had it: the status in a cache may be older. */
  private final Set<String> clashing = ConcurrentHashMap.newKeySet();

  PmemEventSources(String namespace) {
    this.namespace = namespace;
    this.owned = new OwnedKinds(KINDS, Set.of(namespace), MARKS);
  }

  OwnedKinds owned() {
    return owned;
  }

  /** Every node and every resource counts for this one from now on: it may share a node. */
  void met(PmemCSIDeployment resource) {
    clashing.add(resource.getMetadata().getName());
  }

  /** Only nodes that it selects, and resources on them, count for this one from now on. */
  void parted(PmemCSIDeployment resource) {
    clashing.remove(resource.getMetadata().getName());
  }

  List<EventSource<?, PmemCSIDeployment>> eventSources(
      EventSourceContext<PmemCSIDeployment> context) {
    var sources = new ArrayList<>(owned.eventSources(context));
    InformerEventSource<Node, PmemCSIDeployment> nodes = nodes(context);
    sources.add(nodes);
    sources.add(secrets(context));
    sources.add(peers(context, nodes));
    return sources;
  }

  /** Labels of all nodes, by name. */
  static Map<String, Map<String, String>> nodes(Context<PmemCSIDeployment> context) {
    var result = new HashMap<String, Map<String, String>>();
    source(context, Node.class, NODES)
        .list(node -> true)
        .forEach(node -> result.put(node.getMetadata().getName(), labels(node)));
    return result;
  }

  /** The other resources, as the watch sees them that wakes us when one of them changes. */
  static List<PmemCSIDeployment> others(Context<PmemCSIDeployment> context, String own) {
    return source(context, PmemCSIDeployment.class, PEERS)
        .list(other -> !other.getMetadata().getName().equals(own))
        .toList();
  }

  /** Of the operator and of its drivers. */
  String namespace() {
    return namespace;
  }

  /** A secret of the user in the operator's namespace. */
  Optional<Secret> secret(Context<PmemCSIDeployment> context, String name) {
    return source(context, Secret.class, SECRETS).get(new ResourceID(name, namespace));
  }

  /** Only labels decide where a driver runs; the heartbeat of a node is of no interest. */
  private InformerEventSource<Node, PmemCSIDeployment> nodes(
      EventSourceContext<PmemCSIDeployment> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(Node.class, PmemCSIDeployment.class)
            .withName(NODES)
            .withWatchAllNamespaces()
            .withItemStore(new LabelledNodes())
            .withInformerListLimit(NODES_AT_ONCE)
            .withOnAddFilter(node -> true)
            .withOnUpdateFilter((now, before) -> !Objects.equals(labels(now), labels(before)))
            .withSecondaryToPrimaryMapper(
                node -> ids(context, resource -> concerns(resource, labels(node))))
            .build(),
        context);
  }

  private EventSource<?, PmemCSIDeployment> secrets(EventSourceContext<PmemCSIDeployment> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(Secret.class, PmemCSIDeployment.class)
            .withName(SECRETS)
            .withNamespaces(Set.of(namespace))
            // those of our own making are in another cache
            .withLabelSelector("!" + MARKS.uidLabel())
            .withSecondaryToPrimaryMapper(
                secret ->
                    ids(
                        context,
                        resource ->
                            secret
                                .getMetadata()
                                .getName()
                                .equals(resource.getSpec().controllerTLSSecret())))
            .build(),
        context);
  }

  /**
   * A resource that comes, goes or moves may start or end a clash with others. Only those that it
   * meets on a node are woken: to wake all would cost the square of their number.
   */
  private EventSource<?, PmemCSIDeployment> peers(
      EventSourceContext<PmemCSIDeployment> context,
      InformerEventSource<Node, PmemCSIDeployment> nodes) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(PmemCSIDeployment.class, PmemCSIDeployment.class)
            .withName(PEERS)
            .withWatchAllNamespaces()
            .withOnUpdateFilter(
                (now, before) ->
                    !Objects.equals(now.getSpec().nodeSelector(), before.getSpec().nodeSelector()))
            .withSecondaryToPrimaryMapper(peer -> neighbours(context, peer, nodes))
            .build(),
        context);
  }

  private boolean concerns(PmemCSIDeployment resource, Map<String, String> labels) {
    return clashing(resource) || labels.entrySet().containsAll(selector(resource).entrySet());
  }

  private boolean clashing(PmemCSIDeployment resource) {
    return clashing.contains(resource.getMetadata().getName());
  }

  private Set<ResourceID> neighbours(
      EventSourceContext<PmemCSIDeployment> context,
      PmemCSIDeployment peer,
      InformerEventSource<Node, PmemCSIDeployment> nodes) {
    List<Map<String, String>> ofPeer =
        nodes
            .list(node -> labels(node).entrySet().containsAll(selector(peer).entrySet()))
            .map(PmemEventSources::labels)
            .distinct()
            .toList();
    return ids(
        context,
        resource ->
            !resource.getMetadata().getName().equals(peer.getMetadata().getName())
                && (clashing(resource) || meet(selector(resource), ofPeer)));
  }

  private static boolean meet(Map<String, String> selector, List<Map<String, String>> nodes) {
    return nodes.stream().anyMatch(labels -> labels.entrySet().containsAll(selector.entrySet()));
  }

  private static Map<String, String> selector(PmemCSIDeployment resource) {
    return NodeSharing.selector(resource);
  }

  private static Set<ResourceID> ids(
      EventSourceContext<PmemCSIDeployment> context, Predicate<PmemCSIDeployment> which) {
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

  private static <R extends HasMetadata> InformerEventSource<R, PmemCSIDeployment> source(
      Context<PmemCSIDeployment> context, Class<R> kind, String name) {
    return (InformerEventSource<R, PmemCSIDeployment>)
        context.eventSourceRetriever().getEventSourceFor(kind, name);
  }
}
