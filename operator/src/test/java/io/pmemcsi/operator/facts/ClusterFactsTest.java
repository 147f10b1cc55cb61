package io.pmemcsi.operator.facts;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.Violation;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterFactsTest {

  private static final Violation UNKNOWN = new Violation("spec.a", "", "is not a field", true);
  private static final Violation WRONG = new Violation("spec.b", "", "is missing");

  @Test
  void aFieldThatTheLibraryDoesNotKnowIsLeftToANewerServer() {
    assertThat(applicable(KubernetesVersion.OF_LIBRARY)).containsExactly(UNKNOWN, WRONG);
    assertThat(applicable(new KubernetesVersion(1, KubernetesVersion.OF_LIBRARY.minor() + 1)))
        .containsExactly(WRONG);
  }

  private static List<Violation> applicable(KubernetesVersion version) {
    return ClusterFacts.assumed(version, "ns", "any").applicable(List.of(UNKNOWN, WRONG));
  }
}
