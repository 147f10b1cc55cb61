package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.AggregatedOperatorException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.operator.facts.Refusal;
import java.util.Optional;
import java.util.stream.Stream;

/** Why no watch could start: JOSDK wraps the server's message in several exceptions. */
final class StartFailure {

  private StartFailure() {}

  /** The server's message, or else the first cause. */
  static String reason(Throwable failure) {
    return causes(failure)
        .filter(KubernetesClientException.class::isInstance)
        .map(KubernetesClientException.class::cast)
        .map(StartFailure::describe)
        .findFirst()
        .orElseGet(() -> Reason.of(failure));
  }

  private static String describe(KubernetesClientException refusal) {
    String reason = Refusal.reason(refusal);
    return Optional.ofNullable(refusal.getFullResourceName())
        .map(kind -> "%s: %s".formatted(kind, reason))
        .orElse(reason);
  }

  private static Stream<Throwable> causes(Throwable failure) {
    Stream<Throwable> below =
        failure instanceof AggregatedOperatorException many
            ? many.getAggregatedExceptions().values().stream().map(Throwable.class::cast)
            : Stream.ofNullable(failure.getCause());
    return Stream.concat(Stream.of(failure), below.flatMap(StartFailure::causes));
  }
}
