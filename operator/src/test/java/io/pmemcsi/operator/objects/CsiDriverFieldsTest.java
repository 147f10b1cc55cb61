package io.pmemcsi.operator.objects;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsiDriverFieldsTest {

  /** The version in which a field takes effect by default, and the one before. */
  @ParameterizedTest
  @CsvSource({
    "storageCapacity, 1.20, 1.21",
    "requiresRepublish, 1.20, 1.21",
    "tokenRequests, 1.20, 1.21",
    "seLinuxMount, 1.26, 1.27",
    "nodeAllocatableUpdatePeriodSeconds, 1.33, 1.34",
    "serviceAccountTokenInSecrets, 1.34, 1.35",
    "preventPodSchedulingIfMissing, 1.36, 1.37",
  })
  void fieldIsWrittenOnlyWhereTheServerKnowsIt(String field, String before, String from) {
    assertThat(fields(before)).contains("fsGroupPolicy").doesNotContain(field);
    assertThat(fields(from)).contains(field);
  }

  private static List<String> fields(String version) {
    CSIDriver everything =
        new CSIDriverBuilder()
            .withNewSpec()
            .withFsGroupPolicy("File")
            .withStorageCapacity(true)
            .withRequiresRepublish(true)
            .addNewTokenRequest("any", 600L)
            .withSeLinuxMount(true)
            .withNodeAllocatableUpdatePeriodSeconds(60L)
            .withServiceAccountTokenInSecrets(true)
            .withPreventPodSchedulingIfMissing(true)
            .endSpec()
            .build();
    CSIDriver known =
        CsiDriverFields.knownTo(
            ClusterFacts.assumed(KubernetesVersion.parse(version), "any", "any"), everything);
    return new KubernetesSerialization()
        .convertValue(known.getSpec(), JsonNode.class).properties().stream()
            .map(Map.Entry::getKey)
            .toList();
  }
}
