package io.pmemcsi.operator.rollout.draining;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegistrationTest {

  private static final String DRIVER = "csi.example.com";
  private static final Instant CREATED = Instant.parse("2026-01-02T03:04:00Z");

  @ParameterizedTest(name = "added at {0}, ready since {1} when it is {2}: {3}")
  @CsvSource({
    // the entry came with this pod
    "2026-01-02T03:04:05Z, 2026-01-02T03:04:04Z, 2026-01-02T03:04:06Z, true",
    "2026-01-02T03:04:00Z, 2026-01-02T03:04:00Z, 2026-01-02T03:04:00Z, true",
    // it belongs to the previous pod
    "2026-01-02T03:03:59Z, 2026-01-02T03:04:04Z, 2026-01-02T03:04:06Z, false",
    "2026-01-02T03:03:59Z,                     , 2026-01-02T04:04:06Z, false",
    "                    , 2026-01-02T03:04:04Z, 2026-01-02T03:04:06Z, false",
    // kubelet would have noticed by now
    "2026-01-02T03:03:59Z, 2026-01-02T03:04:04Z, 2026-01-02T03:04:34Z, true",
    "                    , 2026-01-02T03:04:04Z, 2026-01-02T03:04:34Z, true",
  })
  void entryCountsOnlyForTheCurrentPod(
      String added, String readySince, Instant now, boolean registered) {
    assertThat(Registration.isOf(List.of(pod(readySince)), DRIVER, node(added), now))
        .isEqualTo(registered);
  }

  @Test
  void nodeWithoutDriversHasNull() {
    var none = Serialization.unmarshal("{\"spec\": {\"drivers\": null}}", CSINode.class);

    assertThat(Registration.isOf(List.of(pod(CREATED.toString())), DRIVER, none, Instant.MAX))
        .isFalse();
  }

  @Test
  void anotherDriverOfTheNodeIsNotRegistered() {
    assertThat(
            Registration.isOf(
                List.of(pod(CREATED.toString())), "other", node(CREATED.toString()), Instant.MAX))
        .isFalse();
  }

  /** The time in managedFields is then the one of the other driver. */
  @Test
  void entryBeforeThatOfAnotherDriverMayBelongToThePreviousPod() {
    Instant soon = CREATED.plusSeconds(5);

    assertThat(registered("[{name: csi.example.com}, {name: other}]", soon)).isFalse();
    assertThat(registered("[{name: other}, {name: csi.example.com}]", soon)).isTrue();
    assertThat(
            registered(
                "[{name: csi.example.com}, {name: other}]", CREATED.plus(Registration.SETTLED)))
        .isTrue();
  }

  private static boolean registered(String drivers, Instant now) {
    return Registration.isOf(
        List.of(pod(CREATED.toString())), DRIVER, node(CREATED.toString(), drivers), now);
  }

  private static Pod pod(String readySince) {
    return new PodBuilder()
        .withNewMetadata()
        .withCreationTimestamp(CREATED.toString())
        .endMetadata()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus(readySince == null ? "False" : "True")
        .withLastTransitionTime(readySince == null ? CREATED.toString() : readySince)
        .endCondition()
        .endStatus()
        .build();
  }

  private static CSINode node(String added) {
    return node(added, "[{name: csi.example.com}]");
  }

  private static CSINode node(String added, String drivers) {
    return Serialization.unmarshal(
        """
        metadata:
          managedFields:
          - {manager: other, time: "2026-01-01T00:00:00Z"}
          - {manager: kubelet, fieldsV1: {"f:spec": {"f:drivers": {}}}%s}
          - {manager: labeller, time: "2026-01-02T03:05:00Z", fieldsV1: {"f:metadata": {"f:labels": {}}}}
        spec: {drivers: %s}
        """
            .formatted(added == null ? "" : ", time: \"%s\"".formatted(added), drivers),
        CSINode.class);
  }
}
