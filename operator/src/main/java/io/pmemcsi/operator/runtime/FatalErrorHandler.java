package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ExceptionHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.pmemcsi.api.WrongType;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one way in which a running operator says that it cannot go on: what it would do from then on
 * could do harm. Nobody is told of what breaks because the operator is being closed.
 */
final class FatalErrorHandler {

  private final Consumer<FatalException> end;
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * Told to somebody.
   *
   * @param end what to do then; it is called from any thread
   */
  FatalErrorHandler(Consumer<FatalException> end) {
    this.end = end;
  }

  /** From now on it is the operator itself that gives everything up. */
  void closing() {
    closing.set(true);
  }

  void leaseLost(String name, String namespace) {
    tell(
        new FatalException(
            ("the lease %s in namespace %s is lost, and another replica leads: this one ends at"
                    + " once, to be started anew; where that happens often, the API server or this"
                    + " machine is too slow")
                .formatted(name, namespace)));
  }

  /** Caches stay as they are then, and the operator would act on what is long past. */
  void informerStopped(SharedIndexInformer<?> informer, @Nullable Throwable failure) {
    // what fails before that fails the start, which tells of it
    if (failure != null && informer.hasSynced()) {
      tell(
          new FatalException(
              "the watch of %s has ended for good: %s; this operator ends, to be started anew"
                  .formatted(kind(informer), reason(failure)),
              failure));
    }
  }

  private void tell(FatalException failure) {
    if (!closing.get()) {
      end.accept(failure);
    }
  }

  private static String reason(Throwable failure) {
    return ExceptionHandler.isDeserializationException(failure)
        ? "an object cannot be read, %s (the CRDs of deploy/crd refuse that)"
            .formatted(WrongType.in("", failure).message())
        : Reason.of(failure);
  }

  private static String kind(SharedIndexInformer<?> informer) {
    Class<?> type = informer.getApiTypeClass();
    return HasMetadata.class.isAssignableFrom(type)
        ? HasMetadata.getFullResourceName(type.asSubclass(HasMetadata.class))
        : type.getSimpleName();
  }
}
