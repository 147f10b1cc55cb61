package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.controller.Problem.Cause;
import org.junit.jupiter.api.Test;

class FailuresTest {

  @Test
  void refusalIsReportedAtOnceAndAnOutageAfterSomeRetries() {
    assertThat(Failures.problem(server(403), 0)).map(Problem::cause).contains(Cause.SERVER_ERROR);
    assertThat(Failures.problem(server(503), 0)).isEmpty();
    assertThat(Failures.problem(server(503), 3)).map(Problem::cause).contains(Cause.SERVER_ERROR);
  }

  @Test
  void internalErrorIsReportedAtOnce() {
    assertThat(Failures.problem(new IllegalStateException("oops"), 0))
        .hasValueSatisfying(
            problem -> {
              assertThat(problem.cause()).isEqualTo(Cause.OPERATOR_ERROR);
              assertThat(problem.message()).contains("oops").contains("operator's log");
            });
  }

  private static KubernetesClientException server(int code) {
    return new KubernetesClientException("any", code, null);
  }
}
