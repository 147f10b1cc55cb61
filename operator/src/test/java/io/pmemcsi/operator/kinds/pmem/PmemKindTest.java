package io.pmemcsi.operator.kinds.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.LostNode;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostVolume;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import io.pmemcsi.operator.pmemdriver.NodeSharing;
import io.pmemcsi.operator.pmemdriver.PmemPeer;
import io.pmemcsi.operator.pmemdriver.PmemPlan;
import io.pmemcsi.operator.pmemdriver.RunningDriver;
import io.pmemcsi.operator.usage.DriverUsage;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PmemKindTest {

  private static final Map<String, String> SELECTOR = Map.of("storage", "pmem");

  private final ClusterFacts facts =
      ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image");
  private final PmemKind kind =
      new PmemKind("pmem", () -> facts, DriverUsage::none, Clock.systemUTC());

  @Test
  void reportsSharedNodesAsObservedBeforeTheDecision() {
    PmemCSIDeployment resource = resource("deviceMode: lvm");

    PmemPlan<PmemCSIDeployment> plan = kind.decide(resource, observedSharedNode(List.of()));

    assertThat(plan.action()).isInstanceOf(Action.Apply.class);
    assertSharedNodeIsReported(resource, plan);
  }

  @Test
  void reportsSharedNodesOfAResourceThatCannotBeDeployed() {
    PmemCSIDeployment invalid = resource("deviceMode: tape");
    PmemCSIDeployment younger = resource("deviceMode: lvm");
    younger.getMetadata().setCreationTimestamp("2026-01-02T00:00:00Z");
    var older =
        new PmemPeer(
            "Deployment", "older", "a.example.com", SELECTOR, 100, "2026-01-01T00:00:00Z", "uid");

    assertSharedNodeIsReported(invalid, kind.decide(invalid, observedSharedNode(List.of())));
    PmemPlan<PmemCSIDeployment> lost = kind.decide(younger, observedSharedNode(List.of(older)));
    assertThat(lost.action())
        .isInstanceOfSatisfying(
            Action.Block.class,
            block -> assertThat(block.problem().cause()).isEqualTo(Cause.CONFLICT));
    assertSharedNodeIsReported(younger, lost);
  }

  @Test
  void thePlanHasTheVolumesOfLostNodesThatAreReleased() {
    PmemCSIDeployment resource = resource("lostNodes: {releaseAfter: 24h}");
    resource.setStatus(status(resource, kind.decide(resource, observedLost(Duration.ZERO))));
    assertThat(resource.getStatus().lostNodes()).extracting(LostNode::node).containsExactly("gone");
    assertThat(resource.getStatus().condition("NodesLost")).isPresent();

    assertThat(due(resource, Duration.ofHours(23))).isEmpty();
    assertThat(due(resource, Duration.ofHours(25)))
        .isEqualTo(due(resource, Duration.ofHours(25)))
        .extracting(LostVolume::name)
        .containsExactly("volume");
  }

  private List<LostVolume> due(PmemCSIDeployment resource, Duration sinceTheLoss) {
    return kind.decide(resource, observedLost(sinceTheLoss)).lostNodes().orElseThrow().due();
  }

  @Test
  void anInvalidResourceReleasesNothing() {
    assertThat(kind.decide(resource("deviceMode: tape"), observedLost(Duration.ZERO)).lostNodes())
        .isEmpty();
  }

  private void assertSharedNodeIsReported(
      PmemCSIDeployment resource, PmemPlan<PmemCSIDeployment> plan) {
    assertThat(status(resource, plan).condition("NodesExclusive").map(DeploymentCondition::message))
        .hasValueSatisfying(
            message -> assertThat(message).contains("\"other\" selects the same nodes: node-1"));
  }

  private PmemCSIDeploymentStatus status(
      PmemCSIDeployment resource, PmemPlan<PmemCSIDeployment> plan) {
    return kind.status()
        .deployed(
            resource,
            plan,
            new RunningDriver(List.of(), List.of()),
            Optional.empty(),
            Optional.empty())
        .next(resource.getStatus(), Instant.EPOCH);
  }

  private PmemObservation observedSharedNode(List<PmemPeer> peers) {
    return new PmemObservation(
        new DriverObservation(
            facts,
            Map.of(),
            peers,
            NodeSharing.condition(
                peer("a.example.com"),
                List.of(peer("other")),
                Map.of("node-1", SELECTOR),
                PmemCSIDeploymentStatus.NEW),
            Instant.EPOCH),
        false,
        Optional.empty(),
        LostVolumes.NONE);
  }

  private static PmemPeer peer(String name) {
    return new PmemPeer("PmemCSIDeployment", name, name, SELECTOR, 100, "", name);
  }

  /** One volume on a node that did not exist any more at the epoch. */
  private PmemObservation observedLost(Duration sinceTheLoss) {
    return new PmemObservation(
        new DriverObservation(
            facts, Map.of(), List.of(), Optional.empty(), Instant.EPOCH.plus(sinceTheLoss)),
        false,
        Optional.empty(),
        new LostVolumes(
            List.of(
                new LostVolume(
                    "volume", "uid", "a.example.com", "gone", Optional.empty(), true, List.of())),
            Map.of("gone", Instant.EPOCH)));
  }

  private static PmemCSIDeployment resource(String spec) {
    return new KubernetesSerialization()
        .unmarshal(
            "metadata: {name: a.example.com, generation: 1}\nspec: {%s}".formatted(spec),
            PmemCSIDeployment.class);
  }
}
