package io.pmemcsi.operator.rollout.draining;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlacementTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}                                                       | true",
        "nodeSelector: {zone: a}                                  | true",
        "nodeSelector: {zone: b}                                  | false",
        "nodeSelector: {zone: a, missing: x}                      | false",
      })
  void nodeSelectorMustMatch(String pod, boolean desired) {
    assertThat(Placement.matches(pod(pod), node(""))).isEqualTo(desired);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{key: zone, operator: In, values: [a, b]}   | true",
        "{key: zone, operator: NotIn, values: [a]}   | false",
        "{key: other, operator: NotIn, values: [a]}  | true",
        "{key: zone, operator: Exists}               | true",
        "{key: zone, operator: DoesNotExist}         | false",
        "{key: disks, operator: Gt, values: ['3']}   | true",
        "{key: disks, operator: Lt, values: ['4']}   | false",
        "{key: zone, operator: Gt, values: ['3']}    | false",
      })
  void requiredAffinityMustMatch(String rule, boolean desired) {
    String pod =
        """
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions: [%s]
        """
            .formatted(rule);
    assertThat(Placement.matches(pod(pod), node(""))).isEqualTo(desired);
  }

  @Test
  void oneOfSeveralTermsIsEnoughAndAnEmptyOneMatchesNothing() {
    String pod =
        """
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - {}
              - matchFields: [{key: metadata.name, operator: In, values: [%s]}]
        """;

    assertThat(Placement.matches(pod(pod.formatted("n1")), node(""))).isTrue();
    assertThat(Placement.matches(pod(pod.formatted("n2")), node(""))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "gpu=yes:NoSchedule                               | []                               |"
            + " false",
        "gpu=yes:PreferNoSchedule                         | []                               |"
            + " true",
        "gpu=yes:NoSchedule                               | [{operator: Exists}]             |"
            + " true",
        "gpu=yes:NoSchedule                               | [{key: gpu, operator: Exists}]   |"
            + " true",
        "gpu=yes:NoSchedule                               | [{key: gpu, value: 'yes'}]       |"
            + " true",
        "gpu=yes:NoExecute                                | [{key: gpu, value: 'no'}]        |"
            + " false",
        "gpu=yes:NoExecute                                | [{key: gpu, value: 'yes', effect:"
            + " NoSchedule}] | false",
        "node.kubernetes.io/unschedulable=:NoSchedule     | []                               |"
            + " true",
        "node.kubernetes.io/not-ready=:NoExecute          | []                               |"
            + " true",
      })
  void taintsMustBeTolerated(String taint, String tolerations, boolean desired) {
    assertThat(Placement.matches(pod("tolerations: " + tolerations), node(taint)))
        .isEqualTo(desired);
  }

  @Test
  void volumesOfTheDriverAreFoundInClaimsInlineAndEphemeral() {
    Set<String> claims = Set.of("shop/data", "shop/p-scratch");

    assertThat(uses("volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]", claims))
        .isTrue();
    assertThat(uses("volumes: [{name: v, persistentVolumeClaim: {claimName: other}}]", claims))
        .isFalse();
    assertThat(uses("volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {}}}]", claims))
        .isTrue();
    assertThat(uses("volumes: [{name: v, csi: {driver: csi.example.com}}]", claims)).isTrue();
    assertThat(uses("volumes: [{name: v, csi: {driver: other.example.com}}]", claims)).isFalse();
  }

  @Test
  void mountedVolumesAreThoseThatKubeletReportsForTheDriver() {
    Node node =
        new NodeBuilder(node(""))
            .withNewStatus()
            .withVolumesInUse(
                "kubernetes.io/csi/csi.example.com^handle-1", "kubernetes.io/csi/other^handle-2")
            .addNewVolumesAttached("/dev/x", "kubernetes.io/csi/csi.example.com^handle-3")
            .endStatus()
            .build();

    assertThat(NodeSnapshotReader.reported("csi.example.com", node))
        .containsExactly("volume handle-1", "volume handle-3");
  }

  private static boolean uses(String spec, Set<String> claims) {
    return NodeSnapshotReader.uses(
        "csi.example.com",
        claims,
        new PodBuilder()
            .withNewMetadata()
            .withName("p")
            .withNamespace("shop")
            .endMetadata()
            .withSpec(pod(spec))
            .build());
  }

  private static PodSpec pod(String yaml) {
    return Serialization.unmarshal(yaml, PodSpec.class);
  }

  private static Node node(String taint) {
    var node =
        new NodeBuilder()
            .withNewMetadata()
            .withName("n1")
            .withLabels(Map.of("zone", "a", "disks", "4"))
            .endMetadata()
            .withNewSpec();
    if (!taint.isEmpty()) {
      List<String> effect = List.of(taint.split(":", -1));
      List<String> key = List.of(effect.getFirst().split("=", -1));
      node.addNewTaint(effect.get(1), key.getFirst(), null, key.get(1));
    }
    return node.endSpec().build();
  }
}
