package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubernetesVersionTest {

  @ParameterizedTest
  @CsvSource({"Kubernetes v1.20.2,1.20", "v1.31.0+k3s1,1.31", "v1.36.4-eks-1234,1.36", "1.9,1.9"})
  void isFoundInWhatServersSay(String said, String expected) {
    assertThat(KubernetesVersion.parse(said)).hasToString(expected);
  }

  @Test
  void comparesByNumber() {
    assertThat(KubernetesVersion.parse("v1.20.2").isAtLeast(1, 9)).isTrue();
    assertThat(KubernetesVersion.parse("v1.20.2").isAtLeast(1, 20)).isTrue();
    assertThat(KubernetesVersion.parse("v1.20.2").isAtLeast(1, 24)).isFalse();
    assertThat(KubernetesVersion.parse("v2.0.0").isAtLeast(1, 24)).isTrue();
  }

  @Test
  void saysWhichTextHasNone() {
    assertThatThrownBy(() -> KubernetesVersion.parse("exec format error"))
        .hasMessageContaining("exec format error");
  }
}
