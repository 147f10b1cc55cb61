package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Node objects without kubelet: they report that they are ready, and no process runs behind them.
 * Pods get bound to them and stay pending, unless {@link #runPods} plays the kubelet. They cost
 * next to nothing: make hundreds.
 */
public final class FakeNodes implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FakeNodes.class);

  /** Controllers take a node for dead when its lease is older than 40 s. */
  private static final Duration RENEW = Duration.ofSeconds(10);

  private static final String LEASES = "kube-node-lease";

  /** As the server wants it. */
  private static final DateTimeFormatter MICRO_TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT);

  private final KubernetesClient client;
  private final List<String> names;
  private final Thread renewals = Thread.ofVirtual().name("leases").unstarted(this::keepRenewing);
  private @Nullable FakePods pods;
  private @Nullable FakeRegistrations registrations;

  private FakeNodes(KubernetesClient client, List<String> names) {
    this.client = client;
    this.names = names;
  }

  /** Creates nodes, ready and with allocatable resources for pods. */
  public static FakeNodes create(Cluster cluster, int count, Map<String, String> labels) {
    String group = "fake-%04x".formatted(ThreadLocalRandom.current().nextInt(0x10000));
    FakeNodes nodes =
        new FakeNodes(
            cluster.admin(),
            IntStream.rangeClosed(1, count).mapToObj(i -> group + "-" + i).toList());
    try {
      nodes.names.forEach(name -> nodes.create(name, labels));
    } catch (RuntimeException e) {
      nodes.close();
      throw e;
    }
    nodes.renewals.start();
    return nodes;
  }

  /** From now on pods that are bound to these nodes become ready, and go when they are deleted. */
  public FakeNodes runPods() {
    if (pods == null) {
      pods = FakePods.start(client, names::contains);
    }
    return this;
  }

  /** From now on CSI drivers whose pods are ready get registered, as kubelet does it. */
  public FakeNodes registerDrivers() {
    if (registrations == null) {
      registrations = FakeRegistrations.start(client, names::contains);
    }
    return this;
  }

  public List<String> names() {
    return names;
  }

  /** Deletes the nodes. */
  @Override
  public void close() {
    renewals.interrupt();
    if (pods != null) {
      pods.close();
    }
    if (registrations != null) {
      registrations.close();
    }
    for (String name : names) {
      client.storage().v1().csiNodes().withName(name).delete();
      client.nodes().withName(name).delete();
      client.leases().inNamespace(LEASES).withName(name).delete();
    }
  }

  private void create(String name, Map<String, String> labels) {
    client.resource(lease(name)).create();
    client.resource(node(name, labels)).create();
    // admission takes every new node for not ready, and the controller looks only after seconds
    client
        .nodes()
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"taints\":null}}");
  }

  private static Node node(String name, Map<String, String> labels) {
    Map<String, String> all = new HashMap<>(labels);
    all.put("kubernetes.io/hostname", name);
    all.put("kubernetes.io/os", "linux");
    Map<String, Quantity> resources =
        Map.of(
            "cpu", new Quantity("16"),
            "memory", new Quantity("64Gi"),
            "pods", new Quantity("110"));
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .withLabels(all)
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .withCapacity(resources)
        .withAllocatable(resources)
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .withReason("FakeNode")
        .withLastHeartbeatTime(Instant.now().toString())
        .withLastTransitionTime(Instant.now().toString())
        .endCondition()
        .endStatus()
        .build();
  }

  private void keepRenewing() {
    try {
      while (true) {
        Thread.sleep(RENEW);
        renew();
      }
    } catch (InterruptedException _) {
      // closed
    }
  }

  private void renew() {
    for (String name : names) {
      try {
        client
            .leases()
            .inNamespace(LEASES)
            .withName(name)
            // one request: for many nodes on a busy machine two each may take too long
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"spec\":{\"renewTime\":\"%s\"}}".formatted(MICRO_TIME.format(now())));
      } catch (RuntimeException e) {
        // the next run retries
        LOG.atDebug().addKeyValue("node", name).setCause(e).log("Lease not renewed");
      }
    }
  }

  private static Lease lease(String name) {
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(LEASES)
        .endMetadata()
        .withNewSpec()
        .withHolderIdentity(name)
        .withLeaseDurationSeconds(40)
        .withRenewTime(now())
        .endSpec()
        .build();
  }

  private static ZonedDateTime now() {
    return ZonedDateTime.now(ZoneOffset.UTC);
  }
}
