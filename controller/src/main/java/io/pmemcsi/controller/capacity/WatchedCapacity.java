package io.pmemcsi.controller.capacity;

import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.volume.VolumeClasses;
import io.pmemcsi.controller.watch.LeanWatch;
import java.net.HttpURLConnection;
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
 * storage class. Those of classes for the same NUMA node, or for any, are about the same memory.
 * They change only when the capacity does, so that their data is as old as the watch that shows
 * them.
 */
public final class WatchedCapacity implements CapacitySource {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedCapacity.class);
  private static final String GROUP = "storage.k8s.io";
  private static final String PLURAL = "csistoragecapacities";
  private static final String ALPHA = "v1alpha1";
  private static final String ANY = "";

  /** What one object says of a node. */
  private record Published(String node, String className, FreeCapacity free) {}

  private final DriverName driver;
  private final String version;
  private final VolumeClasses classes;
  private final NodeCapacities capacities;
  private final Clock clock;
  private final Map<String, Published> objects = new HashMap<>();
  private final Map<String, Map<String, Published>> byNode = new HashMap<>();
  private final LeanWatch watch;
  private volatile Instant connected;

  private WatchedCapacity(
      KubernetesClient client,
      String version,
      String namespace,
      DriverName driver,
      VolumeClasses classes,
      NodeCapacities capacities,
      Clock clock) {
    this.driver = driver;
    this.version = version;
    this.classes = classes;
    this.capacities = capacities;
    this.clock = clock;
    this.connected = clock.instant();
    classes.onClassChange(this::classChanged);
    this.watch =
        LeanWatch.start(
            "storage capacities",
            client,
            GenericKubernetesResource.class,
            client.genericKubernetesResources(context(version)).inNamespace(namespace),
            this::changed,
            object -> deleted(object.getMetadata().getName()));
  }

  /**
   * The newest version of the API that the server has; empty if it has none. The alpha version
   * counts only where this account may read the objects: the operator does not let provisioners
   * publish with it, and grants no permission then.
   *
   * @param namespace that of the driver, in which its provisioners publish
   */
  public static Optional<String> servedVersion(KubernetesClient client, String namespace) {
    return Stream.of("v1", "v1beta1", ALPHA)
        .filter(
            version -> {
              APIResourceList resources = client.getApiResources(GROUP + "/" + version);
              return resources != null
                  && resources.getResources().stream()
                      .anyMatch(resource -> resource.getName().equals(PLURAL))
                  && (!version.equals(ALPHA) || mayList(client, namespace));
            })
        .findFirst();
  }

  private static boolean mayList(KubernetesClient client, String namespace) {
    try {
      client
          .genericKubernetesResources(context(ALPHA))
          .inNamespace(namespace)
          .list(new ListOptionsBuilder().withLimit(1L).build());
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        return false;
      }
      throw e;
    }
  }

  private static ResourceDefinitionContext context(String version) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(GROUP)
        .withVersion(version)
        .withKind("CSIStorageCapacity")
        .withPlural(PLURAL)
        .withNamespaced(true)
        .build();
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
      VolumeClasses classes,
      NodeCapacities capacities,
      Clock clock) {
    return new WatchedCapacity(client, version, namespace, driver, classes, capacities, clock);
  }

  @Override
  public Optional<String> notReady() {
    if (!watch.hasSynced()) {
      return Optional.of("the CSIStorageCapacity objects are not listed yet");
    }
    Duration age = age(connected, clock.instant());
    return age.compareTo(NodeCapacities.MAX_AGE) <= 0
        ? Optional.empty()
        : Optional.of(
            "the CSIStorageCapacity objects were not watched for %d s: %s"
                .formatted(age.toSeconds(), remedy()));
  }

  @Override
  public void tick(Instant now) {
    if (watch.isWatching()) {
      connected = now;
    }
  }

  @Override
  public Duration age(Instant observed, Instant now) {
    return watch.isWatching() ? Duration.ZERO : Duration.between(connected, now);
  }

  @Override
  public String remedy() {
    return "can the controller reach the API server? If that has %s/%s no more, restart the controller"
        .formatted(GROUP, version);
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
        published.isPresent() ? objects.put(name, published.get()) : objects.remove(name);
    if (before != null && published.filter(now -> now.node().equals(before.node())).isEmpty()) {
      remove(name, before.node());
    }
    published.ifPresent(
        now -> {
          byNode.computeIfAbsent(now.node(), _ -> new HashMap<>(2)).put(name, now);
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
    Map<String, Published> parts = byNode.getOrDefault(node, new HashMap<>());
    parts.remove(name);
    if (parts.isEmpty()) {
      byNode.remove(node);
    }
    report(node);
  }

  /** The watches are independent of each other: objects may come before their class. */
  private synchronized void classChanged(String name) {
    byNode.forEach(
        (node, published) -> {
          if (published.values().stream().anyMatch(object -> object.className().equals(name))) {
            report(node);
          }
        });
  }

  /**
   * Objects of unknown classes do not count: no volume can be created with them. Without a class
   * for any NUMA node, the node has what the NUMA nodes of its classes have together.
   */
  private void report(String node) {
    var byNumaNode = new HashMap<String, FreeCapacity>(2);
    byNode
        .getOrDefault(node, Map.of())
        .values()
        .forEach(
            object ->
                classes
                    .volumeClass(object.className())
                    .ifPresent(
                        volumeClass ->
                            byNumaNode.merge(
                                volumeClass.numaNode(), object.free(), WatchedCapacity::newest)));
    FreeCapacity whole = byNumaNode.remove(ANY);
    if (whole != null || !byNumaNode.isEmpty()) {
      capacities.observe(
          node,
          whole != null
              ? whole
              : byNumaNode.values().stream().reduce(FreeCapacity.NONE, FreeCapacity::plus),
          byNumaNode,
          clock.instant());
    } else {
      capacities.forget(node);
    }
  }

  /** The provisioner updates the objects of a node one by one: the smallest value is the newest. */
  private static FreeCapacity newest(FreeCapacity a, FreeCapacity b) {
    return new FreeCapacity(
        Math.min(a.available(), b.available()), Math.min(a.largest(), b.largest()));
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
      Object className = object.get("storageClassName");
      return Optional.of(
          new Published(
              node.intern(),
              String.valueOf(className).intern(),
              new FreeCapacity(available, largest == null ? available : bytes(largest))));
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
