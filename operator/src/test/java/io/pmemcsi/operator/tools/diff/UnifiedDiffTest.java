package io.pmemcsi.operator.tools.diff;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.tools.diff.ObjectDiff.Fate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UnifiedDiffTest {

  @Test
  void equalTextsHaveNoHunks() {
    assertThat(UnifiedDiff.of("a\nb\n", "a\nb\n")).isEmpty();
  }

  @Test
  void newTextIsAllPlus() {
    assertThat(UnifiedDiff.of("", "a\nb\n"))
        .isEqualTo(
            """
            @@ -0,0 +1,2 @@
            +a
            +b
            """);
  }

  @Test
  void changeHasThreeLinesOfContext() {
    assertThat(UnifiedDiff.of(lines(1, 20), lines(1, 20).replace("l10\n", "other\n")))
        .isEqualTo(
            """
            @@ -7,7 +7,7 @@
             l7
             l8
             l9
            -l10
            +other
             l11
             l12
             l13
            """);
  }

  @Test
  void distantChangesHaveSeparateHunks() {
    String after = lines(1, 40).replace("l2\n", "").replace("l30\n", "l30\nmore\n");

    assertThat(UnifiedDiff.of(lines(1, 40), after))
        .isEqualTo(
            """
            @@ -1,5 +1,4 @@
             l1
            -l2
             l3
             l4
             l5
            @@ -28,6 +27,7 @@
             l28
             l29
             l30
            +more
             l31
             l32
             l33
            """);
  }

  @Test
  void valuesOfSecretsAreNotShownButTheirChangeIs() {
    var shown = new ShownObject(new KubernetesSerialization());

    String one = shown.text(secret("c2VjcmV0"));
    String other = shown.text(secret("b3RoZXI="));

    assertThat(one).contains("hidden").doesNotContain("c2VjcmV0").isNotEqualTo(other);
    assertThat(shown.text(secret("c2VjcmV0"))).isEqualTo(one);
  }

  @Test
  void privateKeysInAResourceAreNotShownButTheirChangeIs() {
    var shown = new ShownObject(new KubernetesSerialization());

    String one = shown.text(withKeys("c2VjcmV0"));

    assertThat(one)
        .contains("registryKey: \"(hidden", "nodeControllerKey: \"(hidden", "Y2VydA==")
        .doesNotContain("c2VjcmV0")
        .isNotEqualTo(shown.text(withKeys("b3RoZXI=")));
  }

  private static LegacyDeployment withKeys(String key) {
    return new KubernetesSerialization()
        .unmarshal(
            """
            metadata: {name: d}
            spec: {caCert: Y2VydA==, registryKey: %1$s, nodeControllerKey: %1$s}
            """
                .formatted(key),
            LegacyDeployment.class);
  }

  @Test
  void reportNamesBlockersAndCounts() {
    var ref = new ObjectRef("v1", "Service", "ns", "one");
    var diff =
        new ResourceDiff(
            List.of(
                new ObjectDiff(ref, Fate.CREATED, "@@ -0,0 +1,1 @@\n+a\n"),
                new ObjectDiff(ref, Fate.UNCHANGED, "")),
            List.of(new ObjectRef("v1", "Secret", "ns", "two")),
            List.of("something to know"));

    assertThat(diff.isEmpty()).isFalse();
    assertThat(diff.describe())
        .isEqualTo(
            """
            Service "one" in namespace "ns": created
            @@ -0,0 +1,1 @@
            +a
            Secret "two" in namespace "ns": exists, but was not created for this resource: the operator \
            would write nothing until it is deleted
            something to know
            1 created, 0 changed, 0 deleted and created again, 0 deleted, 1 unchanged
            """);
  }

  private static Secret secret(String value) {
    return new SecretBuilder()
        .withNewMetadata()
        .withName("s")
        .endMetadata()
        .withData(Map.of("key", value))
        .build();
  }

  private static String lines(int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj(i -> "l" + i + "\n")
        .collect(Collectors.joining());
  }
}
