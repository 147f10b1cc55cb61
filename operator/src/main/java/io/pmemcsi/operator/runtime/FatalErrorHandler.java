package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ExceptionHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.pmemcsi.api.WrongType;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends a running operator that cannot continue without doing harm. Errors that are caused by its
 * own shutdown are ignored.
 */
final class FatalErrorHandler {

  private final Consumer<FatalException> end;
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * A handler for one operator.
   *
   * @param end how to end it; called from any thread
   */
  FatalErrorHandler(Consumer<FatalException> end) {
    this.end = end;
  }

  /** From now on errors are caused by the shutdown. */
  void closing() {
    closing.set(true);
  }

  /**
   * Another replica may lead by now.
   *
   * @param leader the one that does, if that is known
   */
  void leaseLost(String name, String namespace, Optional<String> leader) {
    report(
        new FatalException(
            ("the lease %s in namespace %s is lost%s: this one ends at once, to be restarted; where"
                    + " that happens often, the API server or this machine is too slow")
                .formatted(
                    name,
                    namespace,
                    leader
                        .map(", and another replica leads, %s"::formatted)
                        .orElse(", because it was not renewed in time"))));
  }

  /** Its cache would stay as it is, and the operator would act on an outdated state. */
  void informerStopped(SharedIndexInformer<?> informer, @Nullable Throwable failure) {
    // an error before that fails the start, which reports it
    if (failure != null && informer.hasSynced()) {
      report(
          new FatalException(
              "the watch of %s has ended for good: %s; this operator ends, to be restarted"
                  .formatted(kind(informer), reason(failure)),
              failure));
    }
  }

  void report(FatalException failure) {
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
