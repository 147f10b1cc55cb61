package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

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

  @Test
  void imagePullErrorIsReported() {
    assertThat(
            PodProblem.of(
                List.of(
                    pod("a", "state: {waiting: {reason: ImagePullBackOff, message: no image}}"))))
        .contains("pod \"a\": container \"pmem-driver\" ImagePullBackOff: no image");
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
