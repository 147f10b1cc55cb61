package io.pmemcsi.controller.cluster;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.VolumeClass;
import io.pmemcsi.controller.volume.VolumeClasses;
import io.pmemcsi.controller.volume.VolumeLookup;
import io.pmemcsi.controller.watch.LeanWatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** All claims and storage classes of the cluster, in memory and up to date. */
public final class ClusterCache implements VolumeLookup, VolumeClasses, AutoCloseable {

  /** Gets each change of a claim or of its class, after the cache has it, one at a time. */
  public interface ClaimListener {

    /**
     * The claim is new, or it or its class has changed.
     *
     * @param volumeClass empty for a claim without class, or with one that is not known yet
     */
    void changed(String key, Claim claim, Optional<VolumeClass> volumeClass);

    void deleted(String key);
  }

  private final Map<String, Claim> claims = new ConcurrentHashMap<>();
  private final Map<String, VolumeClass> classes = new ConcurrentHashMap<>();
  private final Map<String, Boolean> defaults = new ConcurrentHashMap<>();
  private final List<ClaimListener> claimListeners = new CopyOnWriteArrayList<>();
  private final List<Consumer<String>> classListeners = new CopyOnWriteArrayList<>();
  private final LeanWatch classWatch;
  private final LeanWatch claimWatch;

  private ClusterCache(KubernetesClient client) {
    classWatch =
        LeanWatch.start(
            "storage classes",
            client,
            StorageClass.class,
            client.storage().v1().storageClasses(),
            this::put,
            this::remove);
    claimWatch =
        LeanWatch.start(
            "claims",
            client,
            PersistentVolumeClaim.class,
            client.persistentVolumeClaims().inAnyNamespace(),
            this::put,
            this::remove);
  }

  public static ClusterCache start(KubernetesClient client) {
    return new ClusterCache(client);
  }

  /** Adds a listener, which first gets all claims that are known already. */
  public synchronized void onClaimChange(ClaimListener listener) {
    claims.forEach((key, claim) -> listener.changed(key, claim, volumeClass(claim.className())));
    claimListeners.add(listener);
  }

  @Override
  public void onClassChange(Consumer<String> listener) {
    classListeners.add(listener);
  }

  /** Why something may still be missing; empty if everything has been listed once. */
  public Optional<String> notReady() {
    return !classWatch.hasSynced() || !claimWatch.hasSynced()
        ? Optional.of("claims and storage classes are not listed yet")
        : Optional.empty();
  }

  @Override
  public Optional<Claim> claim(String namespace, String name) {
    return Optional.ofNullable(claims.get(Claim.key(namespace, name)));
  }

  @Override
  public Optional<VolumeClass> volumeClass(String name) {
    return Optional.ofNullable(classes.get(name));
  }

  @Override
  public Optional<String> defaultClass() {
    return defaults.keySet().stream().sorted().findFirst();
  }

  /** Remembers a claim that was read by itself, unless the watch knows it already. */
  void putIfAbsent(PersistentVolumeClaim object) {
    claims.putIfAbsent(key(object), ClaimReader.claim(object));
  }

  /** Remembers a class that was read by itself, unless the watch knows it already. */
  synchronized void putIfAbsent(StorageClass object) {
    if (!classes.containsKey(object.getMetadata().getName())) {
      put(object);
    }
  }

  /** Hands on every claim that waits for its volume on a selected node. */
  public void forEachWaiting(BiConsumer<String, Claim> action) {
    claims.forEach(
        (key, claim) -> {
          if (!claim.bound() && !claim.selectedNode().isEmpty()) {
            action.accept(key, claim);
          }
        });
  }

  @Override
  public void close() {
    claimWatch.close();
    classWatch.close();
  }

  private synchronized void put(PersistentVolumeClaim object) {
    String key = key(object);
    Claim claim = ClaimReader.claim(object);
    claims.put(key, claim);
    claimListeners.forEach(
        listener -> listener.changed(key, claim, volumeClass(claim.className())));
  }

  private synchronized void remove(PersistentVolumeClaim object) {
    claims.remove(key(object));
    claimListeners.forEach(listener -> listener.deleted(key(object)));
  }

  private synchronized void put(StorageClass object) {
    String name = object.getMetadata().getName();
    VolumeClass volumeClass = ClaimReader.volumeClass(object);
    if (!volumeClass.equals(classes.put(name, volumeClass))) {
      classChanged(name);
    }
    if (ClaimReader.isDefault(object)) {
      defaults.put(name, true);
    } else {
      defaults.remove(name);
    }
  }

  private synchronized void remove(StorageClass object) {
    String name = object.getMetadata().getName();
    classes.remove(name);
    defaults.remove(name);
    classChanged(name);
  }

  /** The watches are independent of each other: claims may come before their class. */
  private void classChanged(String name) {
    classListeners.forEach(listener -> listener.accept(name));
    claims.forEach(
        (key, claim) -> {
          if (claim.className().equals(name)) {
            claimListeners.forEach(listener -> listener.changed(key, claim, volumeClass(name)));
          }
        });
  }

  private static String key(PersistentVolumeClaim object) {
    return Claim.key(object.getMetadata().getNamespace(), object.getMetadata().getName());
  }
}
