package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.controller.Problem.Cause;
import java.util.Optional;

/** What an exception means for the user; pure. */
final class Failures {

  /** A server that restarts, or a write on top of another one, is retried before it is reported. */
  private static final int ATTEMPTS_BEFORE_REPORT = 3;

  private static final String NAMESPACE_TERMINATING = "NamespaceTerminating";

  private Failures() {}

  /**
   * The problem to report.
   *
   * @param attempt how often the reconciliation was retried
   * @return empty for an error that will probably not last
   */
  static Optional<Problem> problem(Exception failure, int attempt) {
    if (failure instanceof KubernetesClientException e) {
      return isRefusal(e) || attempt >= ATTEMPTS_BEFORE_REPORT
          ? Optional.of(serverError(e))
          : Optional.empty();
    }
    return Optional.of(
        new Problem(
            Cause.OPERATOR_ERROR, "internal error: %s; see the operator's log".formatted(failure)));
  }

  static Problem serverError(KubernetesClientException e) {
    return new Problem(Cause.SERVER_ERROR, "the API server refuses: " + message(e));
  }

  /** Whether a retry gets the same answer until a user or an administrator changes something. */
  static boolean isRefusal(KubernetesClientException e) {
    return switch (e.getCode()) {
      case 400, 403, 422 -> true;
      default -> false;
    };
  }

  /** Whether nothing can be created because the namespace is being deleted. */
  static boolean isNamespaceTerminating(KubernetesClientException e) {
    var details = e.getStatus() == null ? null : e.getStatus().getDetails();
    return details != null
        && details.getCauses().stream()
            .map(StatusCause::getReason)
            .anyMatch(NAMESPACE_TERMINATING::equals);
  }

  private static String message(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? String.valueOf(e.getMessage()) : status;
  }
}
