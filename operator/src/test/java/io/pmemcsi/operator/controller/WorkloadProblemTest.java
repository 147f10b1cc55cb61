package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadProblemTest {

  /** The messages of controllers and admission plugins of several Kubernetes versions. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Error creating: pods \"a-node-\" is forbidden: no PriorityClass with name none was found"
            + " | no PriorityClass with name none was found."
            + " Create the PriorityClass, or correct priorityClassName.",
        "create Pod a-0 in StatefulSet a failed error: pods \"a-0\" is forbidden: no PriorityClass"
            + " with name none was found | no PriorityClass with name none was found."
            + " Create the PriorityClass, or correct priorityClassName.",
        "(combined from similar events): Error creating: pods \"a-node-x7k2p\" is forbidden:"
            + " violates PodSecurity \"baseline:latest\": privileged"
            + " | violates PodSecurity \"baseline:latest\": privileged. Allow privileged pods:"
            + " kubectl label --overwrite namespace ns pod-security.kubernetes.io/enforce=privileged",
        "pods \"a-x7k2p\" is forbidden: error looking up service account ns/b: serviceaccount"
            + " \"b\" not found"
            + " | error looking up service account ns/b: serviceaccount \"b\" not found."
            + " Create the ServiceAccount, or correct serviceAccountName.",
        "Error creating: pods \"a-x7k2p\" is forbidden: exceeded quota: q, requested: pods=1"
            + " | exceeded quota: q, requested: pods=1. Raise the quota of namespace ns.",
        "Error creating: etcd is full | Error creating: etcd is full"
      })
  void theCauseIsReportedWithARemedyAndWithoutTheNameOfThePod(String message, String reported) {
    assertThat(WorkloadProblem.describe(message, "ns"))
        .isEqualTo("pods cannot be created: " + reported);
  }
}
