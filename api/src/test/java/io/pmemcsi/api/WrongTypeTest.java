package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WrongTypeTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "metadata: {labels: 5} | metadata.labels: has the wrong type: write a map of fields",
        "metadata: {name: [1]} | metadata.name: has the wrong type: write a text",
        "metadata: 5 | metadata: has the wrong type: write a map of fields",
        "spec: {containers: 7} | spec.containers: has the wrong type: write a list",
        "spec: {containers: [7]} | spec.containers[0]: has the wrong type: write a map of fields",
        "spec: {hostPID: maybe} | spec.hostPID: has the wrong type: write true or false",
        "spec: {priority: high} | spec.priority: has the wrong type: write a number",
      })
  void theFieldIsNamedAndWhatItTakes(String yaml, String message) {
    assertThat(WrongType.in("", failure(yaml)).message()).isEqualTo(message);
  }

  @Test
  void thePlaceInsideAResourceIsNamed() {
    assertThat(WrongType.in("spec.template", failure("spec: {containers: 7}")).field())
        .isEqualTo("spec.template.spec.containers");
  }

  private static Throwable failure(String yaml) {
    return catchThrowable(() -> new KubernetesSerialization().unmarshal(yaml, Pod.class));
  }
}
