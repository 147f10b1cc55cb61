package io.pmemcsi.controller.watch;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.pmemcsi.base.error.Reason;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists and watches objects of one kind and hands each on without keeping it: its cache has names
 * and versions only. Failures are retried for ever.
 */
public final class LeanWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LeanWatch.class);

  /** Objects per request of the first list: a large cluster must not be in memory at once. */
  private static final long PAGE = 500;

  private final String what;
  private final SharedIndexInformer<?> informer;

  private LeanWatch(String what, SharedIndexInformer<?> informer) {
    this.what = what;
    this.informer = informer;
  }

  /**
   * Starts in the background.
   *
   * @param what names the objects in messages
   * @param changed gets each object when it is first seen and whenever it changes
   * @param deleted gets an object with little more than its name
   */
  public static <T extends HasMetadata> LeanWatch start(
      String what,
      KubernetesClient client,
      Class<T> type,
      Informable<T> objects,
      Consumer<T> changed,
      Consumer<T> deleted) {
    SharedIndexInformer<T> informer =
        objects
            .withLimit(PAGE)
            .runnableInformer(0)
            .removeNamespaceIndex()
            .itemStore(
                new ReducedStateItemStore<>(
                    ReducedStateItemStore.NAME_KEY_STATE,
                    type,
                    client.getKubernetesSerialization()));
    informer.exceptionHandler(
        (_, failure) -> {
          LOG.atWarn()
              .addKeyValue("objects", what)
              .addKeyValue("cause", Reason.of(failure))
              .log("Watch failed and is retried.");
          return true;
        });
    informer.addEventHandler(
        new ResourceEventHandler<T>() {
          @Override
          public void onAdd(T object) {
            changed.accept(object);
          }

          @Override
          public void onUpdate(T before, T object) {
            changed.accept(object);
          }

          @Override
          public void onDelete(T object, boolean stateUnknown) {
            deleted.accept(object);
          }
        });
    var _ = informer.start();
    return new LeanWatch(what, informer);
  }

  /** Whether everything has been listed once. */
  public boolean hasSynced() {
    return informer.hasSynced();
  }

  /** Whether changes are being received. */
  public boolean isWatching() {
    return informer.isWatching();
  }

  public String what() {
    return what;
  }

  @Override
  public void close() {
    informer.close();
  }
}
