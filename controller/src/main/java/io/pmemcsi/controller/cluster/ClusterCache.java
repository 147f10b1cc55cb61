package io.pmemcsi.controller.cluster;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.VolumeClass;
import io.pmemcsi.controller.volume.VolumeLookup;
import io.pmemcsi.controller.watch.LeanWatch;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** All claims and storage classes of the cluster, in memory and up to date. */
public final class ClusterCache implements VolumeLookup, AutoCloseable {

  /** Gets each change of a claim, after the cache has it. */
  public interface ClaimListener {

    /** For users of the cache who only look up. */
    ClaimListener NONE =
        new ClaimListener() {
          @Override
          public void changed(String key, Claim claim, Optional<VolumeClass> volumeClass) {
            // nothing depends on it
          }

          @Override
          public void deleted(String key) {
            // nothing depends on it
          }
        };

    /**
     * The claim is new, or has changed.
     *
     * @param volumeClass empty for a claim without class, or with one that is not known yet
     */
    void changed(String key, Claim claim, Optional<VolumeClass> volumeClass);

    void deleted(String key);
  }

  private final Map<String, Claim> claims = new ConcurrentHashMap<>();
  private final Map<String, VolumeClass> classes = new ConcurrentHashMap<>();
  private final Map<String, Boolean> defaults = new ConcurrentHashMap<>();
  private final LeanWatch classWatch;
  private final LeanWatch claimWatch;

  private ClusterCache(KubernetesClient client, ClaimListener listener) {
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
            object -> {
              String key = key(object);
              Claim claim = ClaimReader.claim(object);
              claims.put(key, claim);
              listener.changed(key, claim, volumeClass(claim.className()));
            },
            object -> {
              claims.remove(key(object));
              listener.deleted(key(object));
            });
  }

  /** Starts watching. */
  public static ClusterCache start(KubernetesClient client, ClaimListener listener) {
    return new ClusterCache(client, listener);
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

  private void put(StorageClass object) {
    String name = object.getMetadata().getName();
    classes.put(name, ClaimReader.volumeClass(object));
    if (ClaimReader.isDefault(object)) {
      defaults.put(name, true);
    } else {
      defaults.remove(name);
    }
  }

  private void remove(StorageClass object) {
    classes.remove(object.getMetadata().getName());
    defaults.remove(object.getMetadata().getName());
  }

  private static String key(PersistentVolumeClaim object) {
    return Claim.key(object.getMetadata().getNamespace(), object.getMetadata().getName());
  }
}
