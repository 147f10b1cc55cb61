package io.pmemcsi.bench.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Notes when objects are first seen by a watch: a little later than they were written. */
final class Arrivals implements AutoCloseable {

  private static final long POLL_MILLIS = 2;

  private final Map<String, Long> seen = new ConcurrentHashMap<>();
  private final List<SharedIndexInformer<?>> informers = new ArrayList<>();

  /**
   * Watches the kinds of some objects.
   *
   * @param examples one of each kind at least
   */
  Arrivals(KubernetesClient client, List<HasMetadata> examples) {
    examples.stream()
        .map(HasMetadata::getClass)
        .distinct()
        .forEach(kind -> informers.add(watch(client, kind)));
  }

  private <T extends HasMetadata> SharedIndexInformer<T> watch(
      KubernetesClient client, Class<T> kind) {
    return client
        .resources(kind)
        .inAnyNamespace()
        .inform(
            new ResourceEventHandler<>() {
              @Override
              public void onAdd(T object) {
                seen.put(key(object), System.nanoTime());
              }

              @Override
              public void onUpdate(T before, T now) {}

              @Override
              public void onDelete(T object, boolean unknown) {
                seen.remove(key(object));
              }
            });
  }

  /** Waits for all of them; the time of the last one, as {@link System#nanoTime} counts. */
  long awaitAll(List<HasMetadata> objects, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    long last = Long.MIN_VALUE;
    for (HasMetadata object : objects) {
      Long at;
      while ((at = seen.get(key(object))) == null) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException(
              "%s was not made within %d s".formatted(key(object), limit.toSeconds()));
        }
        Thread.sleep(POLL_MILLIS);
      }
      last = Math.max(last, at);
    }
    return last;
  }

  /**
   * Waits until an object was recreated.
   *
   * @param since when it was deleted
   */
  long awaitAgain(HasMetadata object, long since, Duration limit) throws InterruptedException {
    long deadline = since + limit.toNanos();
    Long at;
    while ((at = seen.get(key(object))) == null || at < since) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "%s was not recreated within %d s".formatted(key(object), limit.toSeconds()));
      }
      Thread.sleep(POLL_MILLIS);
    }
    return at;
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::close);
  }

  private static String key(HasMetadata object) {
    return object.getKind() + " " + object.getMetadata().getName();
  }
}
