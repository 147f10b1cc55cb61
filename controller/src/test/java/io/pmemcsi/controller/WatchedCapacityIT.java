package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.capacity.WatchedCapacity;
import io.pmemcsi.controller.cluster.ClusterCache;
import io.pmemcsi.controller.volume.NeededVolume;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Storage classes and CSIStorageCapacity objects on a real API server. */
class WatchedCapacityIT {

  @TempDir Path certificates;
  private final NodeCapacities capacities = new NodeCapacities();
  private SchedulingWorld world;
  private ClusterCache cache;
  private WatchedCapacity source;
  private String version;

  @BeforeEach
  void create() {
    world = new SchedulingWorld(certificates);
    cache = ClusterCache.start(world.client);
    version = TestCluster.capacityVersion(world.client, world.sandbox.namespace());
    source =
        WatchedCapacity.start(
            world.client,
            version,
            world.sandbox.namespace(),
            world.driver,
            cache,
            capacities,
            Clock.systemUTC());
    await().until(() -> source.notReady().isEmpty());
  }

  @AfterEach
  void close() {
    source.close();
    cache.close();
    world.close();
  }

  @Test
  void theSmallestOfSeveralObjectsForTheSameMemoryCounts() {
    classFor("second", "");
    publish("n1-a", world.className, world.driver.topologyKey(), "n1", "100");
    publish("n1-b", name("second"), world.driver.topologyKey(), "n1", "40");
    awaitFree("", 40, "n1");

    delete("n1-b");
    awaitFree("", 100, "n1");
    delete("n1-a");
    awaitFree("", 0, "n1");
  }

  @Test
  void aClassForAFullNumaNodeLeavesTheRestOfTheNodeUsable() {
    classFor("numa-0", "0");
    classFor("numa-1", "1");
    publish("n1-0", name("numa-0"), world.driver.topologyKey(), "n1", "0");
    publish("n1-1", name("numa-1"), world.driver.topologyKey(), "n1", "60");
    awaitFree("", 60, "n1");
    awaitFree("0", 0, "n1");
    awaitFree("1", 60, "n1");

    // reported for the whole node at another moment
    publish("n1", world.className, world.driver.topologyKey(), "n1", "70");
    awaitFree("", 70, "n1");
    assertThat(free("1", "n1")).isEqualTo(60);
  }

  @Test
  void anObjectCountsAsSoonAsItsClassIsKnownAndIfItIsOfThisDriver() {
    publish("n1", name("later"), world.driver.topologyKey(), "n1", "100");
    publish("n2", world.className, world.driver.topologyKey(), "n2", "50");
    publish("n3", world.className, "other.example.com/node", "n3", "50");
    awaitFree("", 50, "n2");
    assertThat(free("", "n1")).isZero();
    assertThat(free("", "n3")).isZero();

    classFor("later", "");
    awaitFree("", 100, "n1");
  }

  /** Nobody may have asked for an hour before the connection fails. */
  @Test
  @SuppressWarnings("try") // the proxy is closed early: that is the failure
  void dataIsAsOldAsTheConnectionIsDown() throws IOException {
    publish("n1", world.className, world.driver.topologyKey(), "n1", "100");
    Config config = Config.fromKubeconfig(TestCluster.get().kubeconfig().toFile());
    try (var proxy = new ServiceProxy()) {
      proxy.add(URI.create(config.getMasterUrl()).getPort());
      config.setMasterUrl("https://127.0.0.1:" + proxy.port());
      Instant now = Instant.now();
      try (KubernetesClient proxied = new KubernetesClientBuilder().withConfig(config).build();
          WatchedCapacity watched =
              WatchedCapacity.start(
                  proxied,
                  version,
                  world.sandbox.namespace(),
                  world.driver,
                  cache,
                  new NodeCapacities(),
                  Clock.offset(Clock.systemUTC(), Duration.ofHours(2)))) {
        await().until(() -> watched.age(now, now.plusSeconds(3600)).isZero());
        watched.tick(now.plusSeconds(3600));
        assertThat(watched.notReady()).isEmpty();

        proxy.close();

        await()
            .untilAsserted(
                () ->
                    assertThat(watched.age(now, now.plusSeconds(3610)))
                        .isEqualTo(Duration.ofSeconds(10)));
        assertThat(watched.notReady())
            .hasValueSatisfying(
                problem ->
                    assertThat(problem)
                        .contains("were not watched for")
                        .contains("storage.k8s.io/" + version));
      }
    }
  }

  private void awaitFree(String numaNode, long bytes, String node) {
    await().untilAsserted(() -> assertThat(free(numaNode, node)).isEqualTo(bytes));
  }

  /** The largest volume of up to 100 bytes that fits. */
  private long free(String numaNode, String node) {
    for (long bytes = 100; bytes > 0; bytes -= 10) {
      boolean fits =
          !capacities
              .filter(
                  "pod",
                  List.of(new NeededVolume("default/claim", bytes, numaNode)),
                  List.of(node),
                  source,
                  Instant.now())
              .passed()
              .isEmpty();
      capacities.release("pod");
      if (fits) {
        return bytes;
      }
    }
    return 0;
  }

  private String name(String suffix) {
    return world.className + "-" + suffix;
  }

  private void classFor(String suffix, String numaNode) {
    world.sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(name(suffix))
            .endMetadata()
            .withProvisioner(world.driver.value())
            .withParameters(numaNode.isEmpty() ? Map.of() : Map.of("numaNode", numaNode))
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
  }

  private void publish(
      String name, String className, String topologyKey, String node, String capacity) {
    GenericKubernetesResource object =
        new GenericKubernetesResourceBuilder()
            .withApiVersion("storage.k8s.io/" + version)
            .withKind("CSIStorageCapacity")
            .withNewMetadata()
            .withName(name)
            .withNamespace(world.sandbox.namespace())
            .endMetadata()
            .addToAdditionalProperties("storageClassName", className)
            .addToAdditionalProperties("capacity", capacity)
            .addToAdditionalProperties(
                "nodeTopology", Map.of("matchLabels", Map.of(topologyKey, node)))
            .build();
    world.client.resource(object).create();
  }

  private void delete(String name) {
    world
        .client
        .genericKubernetesResources(TestCluster.capacities(version))
        .inNamespace(world.sandbox.namespace())
        .withName(name)
        .delete();
  }
}
