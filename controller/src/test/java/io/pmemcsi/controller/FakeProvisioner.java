package io.pmemcsi.controller;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.pmemcsi.controller.volume.ByteQuantity;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Plays the drivers and provisioners of many nodes: creates volumes for claims on their selected
 * node while that has capacity, and publishes what is left. A claim for which there is no capacity
 * is counted and goes back to the scheduler, as the real provisioner does it.
 */
final class FakeProvisioner implements AutoCloseable {

  private final KubernetesClient client;
  private final String namespace;
  private final String capacityVersion;
  private final String driver;
  private final String className;
  private final Map<String, Long> free = new HashMap<>();
  private final Map<String, Object> publishing = new ConcurrentHashMap<>();
  private final Set<String> begun = ConcurrentHashMap.newKeySet();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger created = new AtomicInteger();
  private final ExecutorService workers = Executors.newFixedThreadPool(8);
  private final SharedIndexInformer<PersistentVolumeClaim> claims;

  FakeProvisioner(
      KubernetesClient client,
      String namespace,
      String driver,
      String className,
      Map<String, Long> capacity) {
    this.client = client;
    this.namespace = namespace;
    this.capacityVersion = TestCluster.capacityVersion(client, namespace);
    this.driver = driver;
    this.className = className;
    this.free.putAll(capacity);
    capacity.forEach(
        (node, bytes) -> {
          publishing.put(node, new Object());
          client
              .genericKubernetesResources(TestCluster.capacities(capacityVersion))
              .inNamespace(namespace)
              .resource(capacity(node, bytes))
              .create();
        });
    this.claims =
        client
            .persistentVolumeClaims()
            .inAnyNamespace()
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(PersistentVolumeClaim claim) {
                    consider(claim);
                  }

                  @Override
                  public void onUpdate(PersistentVolumeClaim old, PersistentVolumeClaim claim) {
                    consider(claim);
                  }

                  @Override
                  public void onDelete(PersistentVolumeClaim claim, boolean unknown) {
                    // its volume stays
                  }
                });
  }

  int refused() {
    return refused.get();
  }

  int created() {
    return created.get();
  }

  synchronized Map<String, Long> free() {
    return Map.copyOf(free);
  }

  @Override
  public void close() {
    claims.close();
    workers.shutdownNow();
  }

  private void consider(PersistentVolumeClaim claim) {
    Map<String, String> annotations = claim.getMetadata().getAnnotations();
    String node =
        annotations == null ? null : annotations.get("volume.kubernetes.io/selected-node");
    if (node == null) {
      return;
    }
    boolean owned =
        className.equals(claim.getSpec().getStorageClassName())
            && claim.getSpec().getVolumeName() == null
            && publishing.containsKey(node);
    if (owned && begun.add(claim.getMetadata().getUid() + node)) {
      workers.execute(() -> provision(claim, node));
    }
  }

  private void provision(PersistentVolumeClaim claim, String node) {
    try {
      Quantity size = requireNonNull(claim.getSpec().getResources().getRequests().get("storage"));
      if (!take(node, ByteQuantity.parse(size.toString()))) {
        refused.incrementAndGet();
        begun.remove(claim.getMetadata().getUid() + node);
        client
            .resource(claim)
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":null}}}");
        return;
      }
      created.incrementAndGet();
      // the two are written by different parts of a provisioner, in any order
      if (claim.getMetadata().getUid().hashCode() % 2 == 0) {
        publish(node);
        createVolume(claim, node, size);
      } else {
        createVolume(claim, node, size);
        publish(node);
      }
    } catch (KubernetesClientException e) {
      // the test is over
    }
  }

  private synchronized boolean take(String node, long bytes) {
    long left = free.getOrDefault(node, 0L) - bytes;
    if (left < 0) {
      return false;
    }
    free.put(node, left);
    return true;
  }

  private void publish(String node) {
    synchronized (requireNonNull(publishing.get(node))) {
      client
          .genericKubernetesResources(TestCluster.capacities(capacityVersion))
          .inNamespace(namespace)
          .withName(node)
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"capacity\":\"%d\"}".formatted(free().get(node)));
    }
  }

  private void createVolume(PersistentVolumeClaim claim, String node, Quantity size) {
    client
        .resource(
            new PersistentVolumeBuilder()
                .withNewMetadata()
                .withName("pvc-" + claim.getMetadata().getUid())
                .addToAnnotations("pv.kubernetes.io/provisioned-by", driver)
                .endMetadata()
                .withNewSpec()
                .withCapacity(Map.of("storage", size))
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName(className)
                .withPersistentVolumeReclaimPolicy("Retain")
                .withNewClaimRef()
                .withKind("PersistentVolumeClaim")
                .withApiVersion("v1")
                .withNamespace(claim.getMetadata().getNamespace())
                .withName(claim.getMetadata().getName())
                .withUid(claim.getMetadata().getUid())
                .endClaimRef()
                .withNewNodeAffinity()
                .withNewRequired()
                .addNewNodeSelectorTerm()
                .addNewMatchExpression()
                .withKey("kubernetes.io/hostname")
                .withOperator("In")
                .withValues(node)
                .endMatchExpression()
                .endNodeSelectorTerm()
                .endRequired()
                .endNodeAffinity()
                .withNewCsi()
                .withDriver(driver)
                .withVolumeHandle(claim.getMetadata().getUid())
                .endCsi()
                .endSpec()
                .build())
        .create();
  }

  private GenericKubernetesResource capacity(String node, long bytes) {
    return new GenericKubernetesResourceBuilder()
        .withApiVersion("storage.k8s.io/" + capacityVersion)
        .withKind("CSIStorageCapacity")
        .withNewMetadata()
        .withName(node)
        .withNamespace(namespace)
        .endMetadata()
        .addToAdditionalProperties("storageClassName", className)
        .addToAdditionalProperties("capacity", Long.toString(bytes))
        .addToAdditionalProperties(
            "nodeTopology", Map.of("matchLabels", Map.of(driver + "/node", node)))
        .build();
  }
}
