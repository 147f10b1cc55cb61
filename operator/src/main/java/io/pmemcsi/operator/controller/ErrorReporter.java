package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Whatever goes wrong while a resource is looked at is told to its user, too, and tried again. */
public final class ErrorReporter {

  /** A server that is restarted, or a write on top of another one, is no news. */
  private static final int ATTEMPTS_BEFORE_TOLD = 3;

  private ErrorReporter() {}

  /**
   * What went wrong.
   *
   * @param reason one word
   * @param message for a user
   */
  public record Failure(String reason, String message) {}

  /**
   * Walks, and tells of a failure before it is thrown on to whoever tries again.
   *
   * @param tell is called unless the failure will probably go by itself
   */
  public static <T> T telling(Context<?> context, Supplier<T> walk, Consumer<Failure> tell) {
    try {
      return walk.get();
    } catch (KubernetesClientException e) {
      if (isPermanent(e) || attempt(context) >= ATTEMPTS_BEFORE_TOLD) {
        tell(e, new Failure("ServerError", "the API server refuses: " + message(e)), tell);
      }
      throw e;
    } catch (RuntimeException e) {
      // nothing may fail without a word, not even by our own mistake
      tell(
          e,
          new Failure("OperatorError", "internal error: %s; see the operator's log".formatted(e)),
          tell);
      throw e;
    }
  }

  /** What the API server says, in its own words. */
  public static String message(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? String.valueOf(e.getMessage()) : status;
  }

  private static void tell(RuntimeException cause, Failure failure, Consumer<Failure> tell) {
    try {
      tell.accept(failure);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private static boolean isPermanent(KubernetesClientException e) {
    return switch (e.getCode()) {
      case 400, 403, 422 -> true;
      default -> false;
    };
  }

  private static int attempt(Context<?> context) {
    return context.getRetryInfo().map(RetryInfo::getAttemptCount).orElse(0);
  }
}
