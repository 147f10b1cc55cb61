package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodProblemTest {

  @Test
  void terminationMessageIsReportedAlsoWhileTheContainerRestarts() {
    String crashed =
        """
        lastState: {terminated: {exitCode: 1, message: "no certificate: name one"}}
        """;
    String reported =
        "pod \"a\": container \"pmem-driver\" ended with exit code 1: no certificate: name one";

    assertThat(PodProblem.of(List.of(pod("a", "state: {running: {}}", crashed))))
        .contains(reported);
    assertThat(
            PodProblem.of(
                List.of(
                    pod(
                        "a",
                        "state: {waiting: {reason: CrashLoopBackOff, message: back-off 20s}}",
                        crashed))))
        .contains(reported);
  }

  /** Kubelet alternates between the two while it backs off. */
  @ParameterizedTest
  @CsvSource({"ErrImagePull, rpc error: not found", "ImagePullBackOff, Back-off pulling image"})
  void missingImageIsReportedInOneText(String reason, String message) {
    assertThat(
            PodProblem.of(
                List.of(
                    pod(
                        "a",
                        "image: far/away:1",
                        "state: {waiting: {reason: %s, message: \"%s\"}}"
                            .formatted(reason, message)))))
        .contains(
            "pod \"a\": container \"pmem-driver\" cannot pull the image \"far/away:1\": correct its"
                + " name, load the image onto the node, or push it to a registry that the node"
                + " reaches, with imagePullSecrets if that needs a password. \"kubectl describe"
                + " pod\" shows the answer of the registry.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ErrImageNeverPull | needs the image \"far/away:1\", which is not on the node, and its pull"
            + " policy is Never: load the image onto the node, or change the pull policy.",
        "InvalidImageName | has \"far/away:1\" as image, which is no valid name: correct it.",
        "CreateContainerConfigError | CreateContainerConfigError: no secret"
      })
  void containerThatCannotStartIsReported(String reason, String reported) {
    assertThat(
            PodProblem.of(
                List.of(
                    pod(
                        "a",
                        "image: far/away:1",
                        "state: {waiting: {reason: %s, message: no secret}}".formatted(reason)))))
        .contains("pod \"a\": container \"pmem-driver\" " + reported);
  }

  @Test
  void unschedulablePodIsReported() {
    Pod pod =
        read(
            """
            metadata: {name: a}
            status:
              conditions: [{type: PodScheduled, status: "False", message: 0/3 nodes are available}]
            """);

    assertThat(PodProblem.of(List.of(pod)))
        .contains("pod \"a\": has no node: 0/3 nodes are available");
  }

  @Test
  void startingOrRunningPodsAreNoProblem() {
    assertThat(
            PodProblem.of(
                List.of(
                    pod("a", "state: {waiting: {reason: ContainerCreating}}"),
                    pod(
                        "b",
                        "ready: true",
                        "lastState: {terminated: {exitCode: 1, message: earlier}}"))))
        .isEmpty();
    assertThat(PodProblem.of(List.of(read("metadata: {name: c}")))).isEmpty();
  }

  @Test
  void firstPodByNameIsReportedSoThatTheStatusIsStable() {
    Pod one = pod("one", "state: {waiting: {reason: ErrImagePull}}");
    Pod other = pod("other", "state: {waiting: {reason: ErrImagePull}}");

    assertThat(PodProblem.of(List.of(other, one))).isEqualTo(PodProblem.of(List.of(one, other)));
  }

  private static Pod pod(String name, String... lines) {
    return read(
        """
        metadata: {name: %s}
        status:
          containerStatuses:
          - name: pmem-driver
            %s
        """
            .formatted(name, String.join("\n    ", lines).strip()));
  }

  private static Pod read(String yaml) {
    return new KubernetesSerialization().unmarshal(yaml, Pod.class);
  }
}
