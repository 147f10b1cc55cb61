package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import org.junit.jupiter.api.Test;

/**
 * A real server refuses evictions for a disruption budget only while pods run; hollow nodes cannot
 * mount CSI volumes, so the pods here run on fake nodes.
 */
@WithKubernetes
class DisruptionBudgetIT {

  private static final String ID = "budget";
  private static final Draining OPTIONS = new Draining(2, 1, 600, 600, null);

  @Test
  void disruptionBudgetPausesTheRolloutUntilItIsDeleted(Sandbox sandbox) {
    try (var nodes = FakeNodes.create(sandbox.cluster(), 2, DrainingFixture.labels(ID)).runPods()) {
      var fixture = DrainingFixture.set(sandbox, ID, nodes.names()).withoutCrashes();
      HasMetadata budget = fixture.budget("web-budget");
      fixture.settle();
      fixture.changeTemplate();

      NodeUpdate paused =
          fixture.run(
              NodeUpdateStrategy.DRAINING,
              OPTIONS,
              status ->
                  Boolean.TRUE.equals(status.paused())
                      && String.valueOf(status.message()).contains("web-budget"));

      assertThat(paused.message())
          .contains("Waiting longer than allowed for", "pod", "web-", "may not be evicted");
      assertThat(paused.outdated())
          .anySatisfy(
              node -> {
                assertThat(node.step()).isEqualTo("Evicting");
                assertThat(node.safeToRestart()).isFalse();
                assertThat(node.message()).contains("web-budget");
              });

      sandbox.client().resource(budget).delete();
      NodeUpdate last = fixture.run(NodeUpdateStrategy.DRAINING, OPTIONS, fixture::isDone);

      assertThat(last.paused()).isNull();
      assertThat(fixture.cordoned()).isEmpty();
      assertThat(fixture.restartsUnderVolumes()).isEmpty();
    }
  }
}
