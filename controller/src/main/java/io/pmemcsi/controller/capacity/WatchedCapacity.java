package io.pmemcsi.controller.capacity;

import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.watch.LeanWatch;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Capacity from the CSIStorageCapacity objects that the provisioner of each node publishes: one per
 * storage class, all about the same memory. They change only when the capacity does, so that their
 * data is as old as the watch that shows them.
 */
public final class WatchedCapacity implements CapacitySource {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedCapacity.class);
  private static final String GROUP = "storage.k8s.io";
  private static final String PLURAL = "csistoragecapacities";

  /** What one object says of a node. */
  private record Published(String node, Room room) {}

  private final DriverName driver;
  private final NodeCapacities capacities;
  private final Clock clock;
  private final Map<String, Published> objects = new HashMap<>();
  private final Map<String, Map<String, Room>> byNode = new HashMap<>();
  private final LeanWatch watch;
  private volatile Instant connected;

  private WatchedCapacity(
      KubernetesClient client,
      String version,
      String namespace,
      DriverName driver,
      NodeCapacities capacities,
      Clock clock) {
    this.driver = driver;
    this.capacities = capacities;
    this.clock = clock;
    this.connected = clock.instant();
    this.watch =
        LeanWatch.start(
            "storage capacities",
            client,
            GenericKubernetesResource.class,
            client
                .genericKubernetesResources(
                    new ResourceDefinitionContext.Builder()
                        .withGroup(GROUP)
                        .withVersion(version)
                        .withKind("CSIStorageCapacity")
                        .withPlural(PLURAL)
                        .withNamespaced(true)
                        .build())
                .inNamespace(namespace),
            this::changed,
            object -> deleted(object.getMetadata().getName()));
  }

  /** The newest version of the API that the server has; empty if it has none. */
  public static Optional<String> servedVersion(KubernetesClient client) {
    return Stream.of("v1", "v1beta1", "v1alpha1")
        .filter(
            version -> {
              APIResourceList resources = client.getApiResources(GROUP + "/" + version);
              return resources != null
                  && resources.getResources().stream()
                      .anyMatch(resource -> resource.getName().equals(PLURAL));
            })
        .findFirst();
  }

  /**
   * Starts in the background.
   *
   * @param namespace that of the driver, in which its provisioners publish
   */
  public static WatchedCapacity start(
      KubernetesClient client,
      String version,
      String namespace,
      DriverName driver,
      NodeCapacities capacities,
      Clock clock) {
    return new WatchedCapacity(client, version, namespace, driver, capacities, clock);
  }

  @Override
  public Optional<String> notReady() {
    return watch.hasSynced()
        ? Optional.empty()
        : Optional.of("the CSIStorageCapacity objects are not listed yet");
  }

  @Override
  public Duration age(Instant observed, Instant now) {
    if (watch.isWatching()) {
      connected = now;
    }
    return Duration.between(connected, now);
  }

  @Override
  public String remedy() {
    return "can the controller reach the API server?";
  }

  @Override
  public void refresh(String node) {
    // the provisioner publishes the change
  }

  @Override
  public void close() {
    watch.close();
  }

  private synchronized void changed(GenericKubernetesResource object) {
    String name = object.getMetadata().getName();
    Optional<Published> published = read(object);
    Published before =
        published.map(now -> objects.put(name, now)).orElseGet(() -> objects.remove(name));
    if (before != null && published.filter(now -> now.node().equals(before.node())).isEmpty()) {
      remove(name, before.node());
    }
    published.ifPresent(
        now -> {
          byNode.computeIfAbsent(now.node(), _ -> new HashMap<>(2)).put(name, now.room());
          report(now.node());
        });
  }

  private synchronized void deleted(String name) {
    Published before = objects.remove(name);
    if (before != null) {
      remove(name, before.node());
    }
  }

  private void remove(String name, String node) {
    Map<String, Room> rooms = byNode.getOrDefault(node, new HashMap<>());
    rooms.remove(name);
    if (rooms.isEmpty()) {
      byNode.remove(node);
      capacities.forget(node);
    } else {
      report(node);
    }
  }

  /** The provisioner updates the objects of a node one by one: the smallest value is the newest. */
  private void report(String node) {
    byNode.getOrDefault(node, Map.of()).values().stream()
        .reduce(
            (a, b) ->
                new Room(
                    Math.min(a.available(), b.available()), Math.min(a.largest(), b.largest())))
        .ifPresent(room -> capacities.observe(node, room, clock.instant()));
  }

  /** Empty for objects of other drivers, which have another topology key. */
  private Optional<Published> read(GenericKubernetesResource object) {
    String node = object.get("nodeTopology", "matchLabels", driver.topologyKey());
    if (node == null) {
      return Optional.empty();
    }
    try {
      long available = bytes(object.get("capacity"));
      Object largest = object.get("maximumVolumeSize");
      return Optional.of(
          new Published(
              node.intern(), new Room(available, largest == null ? available : bytes(largest))));
    } catch (IllegalArgumentException e) {
      LOG.atWarn()
          .addKeyValue("object", object.getMetadata().getName())
          .addKeyValue("cause", e.getMessage())
          .log("CSIStorageCapacity is ignored.");
      return Optional.empty();
    }
  }

  /** An object without a capacity says that there is none. */
  private static long bytes(@Nullable Object quantity) {
    return quantity == null ? 0 : ByteQuantity.parse(quantity.toString());
  }
}
