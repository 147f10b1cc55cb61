package io.pmemcsi.operator.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PodVolumesTest {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Instant NOW = Instant.parse("2030-01-01T00:10:00Z");
  private static final String LONG_AGO = "2030-01-01T00:00:00Z";
  private static final String JUST_NOW = "2030-01-01T00:09:00Z";

  @ParameterizedTest
  @ValueSource(strings = {"Pending", "Running", "Unknown"})
  void volumesOfARunningPodMayBeMounted(String phase) {
    assertThat(mounted("{}", "{phase: %s}".formatted(phase))).isTrue();
  }

  /** Kubelet reports Failed or Succeeded when containers ended, and then unmounts. */
  @ParameterizedTest
  @ValueSource(strings = {"Succeeded", "Failed"})
  void volumesOfATerminatingPodMayBeMounted(String phase) {
    assertThat(
            mounted(
                "{deletionTimestamp: \"%s\"}".formatted(LONG_AGO),
                "{phase: %s, %s}".formatted(phase, ended(LONG_AGO))))
        .isTrue();
  }

  @Test
  void finishedPodHasAGracePeriodToUnmount() {
    assertThat(mounted("{}", "{phase: Succeeded, %s}".formatted(ended(JUST_NOW)))).isTrue();
    assertThat(mounted("{}", "{phase: Succeeded, %s}".formatted(ended(LONG_AGO)))).isFalse();
  }

  @Test
  void lastContainerCounts() {
    String both =
        """
        {phase: Failed,
         initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0, finishedAt: "%s"}}}],
         containerStatuses: [{name: c, state: {terminated: {exitCode: 1, finishedAt: "%s"}}}]}
        """;
    assertThat(mounted("{}", both.formatted(LONG_AGO, JUST_NOW))).isTrue();
    assertThat(mounted("{}", both.formatted(LONG_AGO, LONG_AGO))).isFalse();
  }

  /** A pod that kubelet evicted may have no container statuses at all. */
  @Test
  void lastUpdateCountsWithoutContainerStatuses() {
    assertThat(mounted("{managedFields: [{time: \"%s\"}]}".formatted(JUST_NOW), "{phase: Failed}"))
        .isTrue();
    assertThat(mounted("{managedFields: [{time: \"%s\"}]}".formatted(LONG_AGO), "{phase: Failed}"))
        .isFalse();
    assertThat(mounted("{}", "{phase: Failed}")).as("without a time").isTrue();
  }

  private static String ended(String time) {
    return "containerStatuses: [{name: c, state: {terminated: {exitCode: 0, finishedAt: \"%s\"}}}]"
        .formatted(time);
  }

  private static boolean mounted(String metadata, String status) {
    Pod pod =
        YAML.unmarshal("metadata: %s\nspec: {}\nstatus: %s".formatted(metadata, status), Pod.class);
    return PodVolumes.mayBeMounted(pod, NOW);
  }
}
