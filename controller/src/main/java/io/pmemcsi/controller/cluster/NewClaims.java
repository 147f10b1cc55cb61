package io.pmemcsi.controller.cluster;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.PodVolumes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads claims that a pod refers to, and their classes, that the watches have not shown yet: users
 * often create all of them at once. Only the webhook does this, which answers before the pod
 * exists.
 */
public final class NewClaims {

  /** The API server waits for the webhook in turn, which answers within a second. */
  private static final Duration LIMIT = Duration.ofMillis(600);

  private final KubernetesClient client;
  private final ClusterCache cache;

  public NewClaims(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  /**
   * Reads the claims of a pod that are not in the cache.
   *
   * @throws IOException if that fails, other than because there is no such claim
   */
  public void ensureKnown(PodVolumes pod) throws IOException {
    List<String> claims =
        pod.volumes().stream()
            .filter(PodVolumes.ClaimReference.class::isInstance)
            .map(volume -> ((PodVolumes.ClaimReference) volume).claimName())
            .filter(claim -> isUnknown(pod.namespace(), claim))
            .toList();
    List<String> classes =
        pod.volumes().stream()
            .filter(PodVolumes.Generic.class::isInstance)
            .map(volume -> ((PodVolumes.Generic) volume).className())
            .filter(this::isUnknownClass)
            .toList();
    if (claims.isEmpty() && classes.isEmpty()) {
      return;
    }
    var reading =
        new FutureTask<>(
            () -> {
              claims.forEach(claim -> read(pod.namespace(), claim));
              classes.forEach(this::readClass);
            },
            null);
    Thread.ofVirtual().name("claims").start(reading);
    try {
      reading.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException(
          "no answer from the API server within %d ms".formatted(LIMIT.toMillis()), e);
    } catch (ExecutionException e) {
      throw new IOException(Reason.of(e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the controller is being stopped", e);
    } finally {
      reading.cancel(true);
    }
  }

  /** Also a claim whose class is unknown: both may have been created just now. */
  private boolean isUnknown(String namespace, String name) {
    return cache
        .claim(namespace, name)
        .filter(claim -> claim.bound() || !isUnknownClass(claim.className()))
        .isEmpty();
  }

  private boolean isUnknownClass(String name) {
    return !name.isEmpty() && cache.volumeClass(name).isEmpty();
  }

  private void read(String namespace, String name) {
    if (cache.claim(namespace, name).isEmpty()) {
      PersistentVolumeClaim claim =
          client.persistentVolumeClaims().inNamespace(namespace).withName(name).get();
      if (claim != null) {
        cache.putIfAbsent(claim);
      }
    }
    cache.claim(namespace, name).map(Claim::className).ifPresent(this::readClass);
  }

  private void readClass(String name) {
    if (isUnknownClass(name)) {
      StorageClass found = client.storage().v1().storageClasses().withName(name).get();
      if (found != null) {
        cache.putIfAbsent(found);
      }
    }
  }
}
