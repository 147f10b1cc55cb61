package io.pmemcsi.operator.kinds.legacy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.LostNode;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostNodes;
import io.pmemcsi.operator.pmemdriver.LostVolume;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import io.pmemcsi.operator.pmemdriver.PmemPlan;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.SampledCount;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LegacyKindTest {

  private final ClusterFacts facts =
      ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image");
  private final LegacyKind kind =
      new LegacyKind("pmem", () -> facts, DriverUsage::none, Clock.systemUTC());

  @Test
  void aFormerDriverStaysWhileVolumesNeedIt() {
    var used =
        new DriverUsage(
            "old.example.com",
            SampledCount.of(List.of("pv-1")),
            SampledCount.NONE,
            SampledCount.NONE,
            SampledCount.NONE);

    assertThat(decide(List.of(used), LostVolumes.NONE).action())
        .isInstanceOfSatisfying(
            Action.Block.class,
            block -> {
              assertThat(block.problem().cause()).isEqualTo(Cause.DRIVER_IN_USE);
              assertThat(block.problem().message())
                  .startsWith("driverName changed from old.example.com to new.example.com: ")
                  .contains("1 PersistentVolume (pv-1)");
            });
    assertThat(decide(List.of(DriverUsage.none("old.example.com")), LostVolumes.NONE).action())
        .isInstanceOf(Action.Apply.class);
  }

  @Test
  void lostNodesAreReportedAndNothingIsReleased() {
    var lost =
        new LostVolumes(
            List.of(
                new LostVolume(
                    "volume", "uid", "new.example.com", "node", Optional.empty(), true, List.of())),
            Map.of("node", Instant.EPOCH));

    LostNodes decided = decide(List.of(), lost).lostNodes().orElseThrow();

    assertThat(decided.report()).extracting(LostNode::node).containsExactly("node");
    assertThat(decided.due()).isEmpty();
  }

  private PmemPlan<LegacyDeployment> decide(List<DriverUsage> former, LostVolumes lost) {
    LegacyDeployment resource =
        new KubernetesSerialization()
            .unmarshal(
                "metadata: {name: a, generation: 1}\nspec: {driverName: new.example.com}",
                LegacyDeployment.class);
    return kind.decide(
        resource,
        new LegacyObservation(
            new DriverObservation(facts, Map.of(), List.of(), Optional.empty(), Instant.now()),
            former,
            lost));
  }
}
