package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.rollout.draining.UpdateRequest;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A driver, and as many applications with volumes as there are nodes, on a real cluster. Fakes
 * replace what hollow nodes lack: the attacher ({@link FakeAttacher}) and kubelet's registration of
 * the driver ({@link FakeKubelets}).
 */
final class DrainingFixture {

  /** No two of the applications on one node. */
  private static final String APART =
      """
      {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname,
        labelSelector: {matchLabels: {app: web}}}]}\
      """;

  /** Rollouts take many steps, and machines may be slow. */
  private static final Duration TIMEOUT = Duration.ofMinutes(4);

  private final Sandbox sandbox;
  private final KubernetesClient client;
  private final String id;
  private final String driver;
  private final List<String> nodes;
  private final InstalledOperator operator;
  private final boolean driverByOperator;
  private final boolean onFakeNodes;
  private final AtomicInteger writesLeft = new AtomicInteger();
  private final KubernetesClient crashingClient;
  private final List<String> restartsUnderVolumes = new ArrayList<>();
  private final FakeAttacher attacher;
  private final FakeKubelets kubelets;
  private Map<String, String> lastDriverPods = Map.of();
  private Map<String, Set<String>> lastVolumes = Map.of();
  private boolean kubeletsObserve = true;
  private int writesPerOperator = 1;
  private int template;
  private final Set<String> crashes = ConcurrentHashMap.newKeySet();

  private DrainingFixture(
      Sandbox sandbox,
      String id,
      List<String> nodes,
      boolean driverByOperator,
      boolean onFakeNodes) {
    this.sandbox = sandbox;
    this.operator = InstalledOperator.install(sandbox);
    this.driverByOperator = driverByOperator;
    this.onFakeNodes = onFakeNodes;
    this.client = sandbox.client();
    this.id = id;
    this.driver = id + ".csi.example.com";
    this.nodes = nodes;
    this.attacher = new FakeAttacher(client, driver, id + "-pv-");
    this.kubelets = new FakeKubelets(client, driver);
    this.crashingClient =
        Clients.to(sandbox.clientAs(OperatorInstallation.NAME).getConfiguration())
            .withHttpClientBuilderConsumer(
                builder ->
                    builder.addOrReplaceInterceptor(
                        "crash", new CrashInjector(writesLeft, crashes)))
            .build();
    sandbox.cleanUp(crashingClient::close);
  }

  /** The labels that the nodes must have. */
  static Map<String, String> labels(String id) {
    return Map.of("test/" + id, "yes");
  }

  /**
   * With a driver that the test creates and a resource that no operator reconciles, on fake nodes.
   */
  static DrainingFixture set(Sandbox sandbox, String id, List<String> nodes) {
    return set(new DrainingFixture(sandbox, id, nodes, false, true), 0);
  }

  /**
   * The same on hollow nodes. Their kubelets cannot mount volumes, so that applications never start
   * there; and driver pods without a grace period would end the next pod's containers too.
   */
  static DrainingFixture setOnHollowNodes(Sandbox sandbox, String id, List<String> nodes) {
    return set(new DrainingFixture(sandbox, id, nodes, false, false), 1);
  }

  private static DrainingFixture set(DrainingFixture fixture, int graceSeconds) {
    fixture.createDriver(graceSeconds);
    fixture.createResource();
    fixture.createApplications(false);
    return fixture;
  }

  /**
   * With a driver that a running operator deploys and an application on each fake node, so that a
   * disruption budget blocks whichever node is first.
   */
  static DrainingFixture withOperator(Sandbox sandbox, String id, List<String> nodes) {
    var fixture = new DrainingFixture(sandbox, id, nodes, true, true);
    fixture.operator.start();
    fixture.createResource();
    fixture.createApplications(true);
    return fixture;
  }

  InstalledOperator operator() {
    return operator;
  }

  private void createDriver(int graceSeconds) {
    sandbox.create(
        read(
            """
            apiVersion: storage.k8s.io/v1
            kind: CSIDriver
            metadata: {name: %s}
            spec: {attachRequired: false}
            """
                .formatted(driver)));
    client.resource(daemonSet(graceSeconds)).create();
  }

  private void createApplications(boolean apart) {
    for (int i = 0; i < nodes.size(); i++) {
      sandbox.create(
          read(
              """
              apiVersion: v1
              kind: PersistentVolume
              metadata: {name: %s-pv-%d}
              spec:
                capacity: {storage: 1Gi}
                accessModes: [ReadWriteOnce]
                persistentVolumeReclaimPolicy: Retain
                claimRef: {namespace: %s, name: data-web-%d}
                csi: {driver: %s, volumeHandle: handle-%d}
              """
                  .formatted(id, i, client.getNamespace(), i, driver, i)));
    }
    client
        .resource(
            read(
                """
                apiVersion: apps/v1
                kind: StatefulSet
                metadata: {name: web}
                spec:
                  serviceName: web
                  replicas: %d
                  podManagementPolicy: Parallel
                  selector: {matchLabels: {app: web}}
                  template:
                    metadata: {labels: {app: web}}
                    spec:
                      terminationGracePeriodSeconds: 0
                      nodeSelector: {test/%s: "yes"}
                      affinity: {podAntiAffinity: %s}
                      containers: [{name: web, image: any, volumeMounts: [{name: data, mountPath: /data}]}]
                  volumeClaimTemplates:
                  - metadata: {name: data}
                    spec:
                      accessModes: [ReadWriteOnce]
                      storageClassName: ""
                      resources: {requests: {storage: 1Gi}}
                """
                    .formatted(nodes.size(), id, apart ? APART : "{}")))
        .create();
    sandbox.cleanUp(this::removeApplications);
  }

  private void createResource() {
    client
        .resource(
            read(
                """
                apiVersion: csidriver.storage.openshift.io/v1alpha1
                kind: CSIDriverDeployment
                metadata: {name: drained}
                spec:
                  driverName: %s
                  driverSocket: /run/csi/csi.sock
                  nodeUpdateStrategy: Draining
                  deletionPolicy: Immediate
                  csiDriver: {attachRequired: false}
                  driverPerNodeTemplate:
                    spec:
                      terminationGracePeriodSeconds: 0
                      nodeSelector: {test/%s: "yes"}
                      containers:
                      - {name: driver, image: "any:0", securityContext: {privileged: true}}
                """
                    .formatted(driver, id)))
        .create();
  }

  private DaemonSet daemonSet(int graceSeconds) {
    return (DaemonSet)
        read(
            """
            apiVersion: apps/v1
            kind: DaemonSet
            metadata: {name: driver}
            spec:
              selector: {matchLabels: {app: driver}}
              updateStrategy: {type: OnDelete}
              template:
                metadata: {labels: {app: driver}}
                spec:
                  terminationGracePeriodSeconds: %d
                  nodeSelector: {test/%s: "yes"}
                  containers: [{name: driver, image: "any:0"}]
            """
                .formatted(graceSeconds, id));
  }

  /** Runs the fakes once and records restarts of the driver under mounted volumes. */
  void act() {
    List<Pod> drivers = drivers();
    Map<String, String> now = byNode(drivers.stream());
    Map<String, Set<String>> volumes = volumes();
    lastDriverPods.forEach(
        (node, pod) -> {
          // ignore a pod that the scheduler placed before it observed the cordon
          if (!pod.equals(now.get(node))
              && !Collections.disjoint(users(lastVolumes, node), users(volumes, node))) {
            restartsUnderVolumes.add(node);
          }
        });
    lastDriverPods = now;
    lastVolumes = volumes;
    attacher.follow(webPods());
    if (kubeletsObserve) {
      Map<String, String> ready = byNode(drivers.stream().filter(Readiness::isPodReady));
      nodes.forEach(node -> kubelets.see(node, Optional.ofNullable(ready.get(node))));
    }
  }

  void runUntil(BooleanSupplier until) {
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .pollInSameThread()
        .until(
            () -> {
              act();
              return until.getAsBoolean();
            });
  }

  /** Waits until all pods run, and resets the counters. */
  void settle() {
    runUntil(this::isSettled);
    restartsUnderVolumes.clear();
    crashes.clear();
  }

  /** A terminated pod whose volume kubelet has not unmounted yet; a finalizer keeps its object. */
  Pod endedPod(String node) {
    Pod pod =
        client
            .resource(
                (Pod)
                    read(
                        """
                        apiVersion: v1
                        kind: Pod
                        metadata: {name: ended, labels: {app: ended}, finalizers: [test/mounted]}
                        spec:
                          nodeName: %s
                          terminationGracePeriodSeconds: 0
                          containers: [{name: c, image: any}]
                          volumes: [{name: v, csi: {driver: %s}}]
                        """
                            .formatted(node, driver)))
            .create();
    client.resource(pod).delete();
    client
        .pods()
        .withName("ended")
        .editStatus(
            found -> new PodBuilder(found).editStatus().withPhase("Failed").endStatus().build());
    return pod;
  }

  /** Kubelet unmounted the volumes of the pod. */
  void unmounted(Pod ended) {
    Edits.edit(
        client.pods().withName(ended.getMetadata().getName()),
        found -> {
          found.getMetadata().setFinalizers(List.of());
          return found;
        });
  }

  /** Whether drivers are ready everywhere and all applications have a node and, if it can, run. */
  boolean isSettled() {
    return driverPods().size() == nodes.size()
        && webPods().stream()
                .filter(pod -> pod.getSpec().getNodeName() != null)
                .filter(pod -> !onFakeNodes || Readiness.isPodReady(pod))
                .count()
            == nodes.size();
  }

  /**
   * Reconciles with a new operator, which by default crashes before its second write, or before its
   * first one of a new kind.
   */
  Optional<NodeUpdate> advance(NodeUpdateStrategy strategy, Draining settings) {
    writesLeft.set(writesPerOperator);
    CSIDriverDeployment found = resource().get();
    var version = sandbox.version();
    var updates =
        new NodeUpdates(
            crashingClient,
            () -> new KubernetesVersion(version.major(), version.minor()),
            Clock.systemUTC());
    try {
      // as after an election
      updates.releaseOrphans();
      return Optional.of(
          updates
              .execute(
                  updates.plan(
                      UpdateRequest.of(
                          found,
                          driver,
                          strategy,
                          settings,
                          client.apps().daemonSets().withName("driver").get())))
              .status());
    } catch (IllegalStateException e) {
      if (!isCrashed()) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private boolean isCrashed() {
    return writesLeft.get() < 0;
  }

  /** Reconciles with new operators until the status matches. */
  NodeUpdate run(NodeUpdateStrategy strategy, Draining settings, Predicate<NodeUpdate> until) {
    var last = new AtomicReference<NodeUpdate>();
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .pollInSameThread()
        .until(
            () -> {
              act();
              advance(strategy, settings).ifPresent(last::set);
              return last.get() != null && until.test(last.get());
            });
    return last.get();
  }

  /** Whether every node runs the desired revision. */
  boolean isDone(NodeUpdate status) {
    return status.outdated().isEmpty()
        && Integer.valueOf(nodes.size()).equals(status.updatedNodes());
  }

  /** Lets operators complete their reconciliation. */
  DrainingFixture withoutCrashes() {
    writesPerOperator = Integer.MAX_VALUE;
    return this;
  }

  /** The writes before which operators crashed. */
  Set<String> crashes() {
    return crashes;
  }

  List<String> restartsUnderVolumes() {
    return restartsUnderVolumes;
  }

  void changeTemplate() {
    template++;
    if (driverByOperator) {
      resource()
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              """
              {"spec": {"driverPerNodeTemplate": {"spec": {"containers": [{"name": "driver",
                "image": "any:%d", "securityContext": {"privileged": true}}]}}}}
              """
                  .formatted(template));
      return;
    }
    client
        .apps()
        .daemonSets()
        .withName("driver")
        .edit(
            found ->
                new DaemonSetBuilder(found)
                    .editSpec()
                    .editTemplate()
                    .editSpec()
                    .editFirstContainer()
                    .withImage("any:" + template)
                    .endContainer()
                    .endSpec()
                    .endTemplate()
                    .endSpec()
                    .build());
  }

  /** Forbids every eviction of the applications. */
  HasMetadata budget(String name) {
    return client
        .resource(
            read(
                """
                apiVersion: %s
                kind: PodDisruptionBudget
                metadata: {name: %s}
                spec:
                  minAvailable: %d
                  selector: {matchLabels: {app: web}}
                """
                    .formatted(
                        sandbox.version().isAtLeast(1, 21) ? "policy/v1" : "policy/v1beta1",
                        name,
                        nodes.size())))
        .create();
  }

  void removeBudgets() {
    if (sandbox.version().isAtLeast(1, 21)) {
      client.policy().v1().podDisruptionBudget().delete();
    } else {
      client.policy().v1beta1().podDisruptionBudget().delete();
    }
  }

  /** Recreates the resource if a test deleted it. */
  void ensureResource() {
    if (resource().get() == null) {
      createResource();
    }
  }

  Resource<CSIDriverDeployment> resource() {
    return client.resources(CSIDriverDeployment.class).withName("drained");
  }

  /** Deletes the resource and creates another one with the same name. */
  void replaceResource() {
    resource().delete();
    await().atMost(TIMEOUT).until(() -> resource().get() == null);
    createResource();
  }

  /** As if a user removed the finalizer of a deleted resource, and its objects. */
  void deleteResourceWithoutOperator() {
    resource().patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
    resource().delete();
    client.storage().v1().csiDrivers().withName(driver).delete();
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                resource().get() == null
                    && client.apps().daemonSets().withName("drained-node").get() == null);
  }

  void cordon(String node) {
    unschedulable(node, true);
  }

  void uncordon(String node) {
    unschedulable(node, false);
  }

  private void unschedulable(String node, boolean value) {
    Edits.edit(
        client.nodes().withName(node),
        found -> new NodeBuilder(found).editSpec().withUnschedulable(value).endSpec().build());
  }

  /** Ready driver pods, by node. */
  Map<String, String> driverPods() {
    return byNode(drivers().stream().filter(Readiness::isPodReady));
  }

  private static Map<String, String> byNode(Stream<Pod> pods) {
    var result = new TreeMap<String, String>();
    pods.filter(pod -> pod.getSpec().getNodeName() != null)
        .forEach(pod -> result.put(pod.getSpec().getNodeName(), pod.getMetadata().getName()));
    return result;
  }

  /** Not those of a previous DaemonSet that the garbage collector has not deleted yet. */
  private List<Pod> drivers() {
    DaemonSet daemonSet =
        client.apps().daemonSets().withName(driverByOperator ? "drained-node" : "driver").get();
    if (daemonSet == null) {
      return List.of();
    }
    return client
        .pods()
        .withLabelSelector(daemonSet.getSpec().getSelector())
        .list()
        .getItems()
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> pod.hasOwnerReferenceFor(daemonSet))
        .toList();
  }

  List<String> cordoned() {
    return nodes(
        node -> node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable()));
  }

  /** Nodes with an update in progress. */
  List<String> annotated() {
    return nodes(
        node -> {
          Map<String, String> annotations = node.getMetadata().getAnnotations();
          return annotations != null
              && annotations.keySet().stream()
                  .anyMatch(key -> key.startsWith("node-update.csidriver.storage.openshift.io/"));
        });
  }

  private List<String> nodes(Predicate<Node> which) {
    return client.nodes().withLabels(labels(id)).list().getItems().stream()
        .filter(which)
        .map(node -> node.getMetadata().getName())
        .toList();
  }

  boolean hasVolumes(String node) {
    return !users(volumes(), node).isEmpty();
  }

  /** The consumers of volumes on each node: pods and attachments. */
  private Map<String, Set<String>> volumes() {
    var result = new HashMap<String, Set<String>>();
    attacher
        .attachments()
        .forEach(
            found ->
                result
                    .computeIfAbsent(found.getSpec().getNodeName(), node -> new HashSet<>())
                    .add(found.getMetadata().getUid()));
    client.pods().withLabelIn("app", "web", "ended").list().getItems().stream()
        .filter(pod -> pod.getSpec().getNodeName() != null)
        .forEach(
            pod ->
                result
                    .computeIfAbsent(pod.getSpec().getNodeName(), node -> new HashSet<>())
                    .add(pod.getMetadata().getUid()));
    return result;
  }

  private static Set<String> users(Map<String, Set<String>> volumes, String node) {
    return volumes.getOrDefault(node, Set.of());
  }

  private List<Pod> webPods() {
    return client.pods().withLabel("app", "web").list().getItems();
  }

  /** In the order that storage object in-use protection requires. */
  private void removeApplications() {
    client.apps().statefulSets().withName("web").delete();
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              client.pods().withLabel("app", "web").withGracePeriod(0).delete();
              client.persistentVolumeClaims().delete();
              return client.persistentVolumeClaims().list().getItems().isEmpty();
            });
    attacher.attachments().forEach(found -> client.resource(found).delete());
  }

  /** Kubelets do not observe driver pods until they are resumed. */
  void pauseKubelets() {
    kubeletsObserve = false;
  }

  void resumeKubelets() {
    kubeletsObserve = true;
  }

  private HasMetadata read(String yaml) {
    return client.getKubernetesSerialization().unmarshal(yaml);
  }

  /**
   * Lets this number of writes through and rejects all others. An operator with one write left also
   * crashes before the first write of each kind.
   */
  private record CrashInjector(AtomicInteger writesLeft, Set<String> crashes)
      implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (request.method().equals("GET")) {
        return;
      }
      String write = sort(request);
      boolean isLast = writesLeft.getAndDecrement() <= 1;
      if ((isLast && crashes.add(write)) || writesLeft.get() < 0) {
        writesLeft.set(-1);
        crashes.add(write);
        throw new IllegalStateException("this operator crashed");
      }
    }

    private static String sort(HttpRequest request) {
      String body = String.valueOf(request.bodyString());
      return switch (request.method()) {
        case "POST" -> "evict";
        case "DELETE" -> "restart";
        default ->
            body.contains("\"unschedulable\":true")
                ? "cordon"
                : body.contains("\"unschedulable\":null") ? "uncordon" : "annotate";
      };
    }
  }
}
