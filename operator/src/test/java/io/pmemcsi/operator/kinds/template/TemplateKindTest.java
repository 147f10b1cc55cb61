package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.SampledCount;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class TemplateKindTest {

  private static final ClusterFacts FACTS =
      ClusterFacts.assumed(KubernetesVersion.NEWEST_KNOWN, "ns", "any");

  /** Without node updates: whatever drains or evicts would fail here. */
  private final TemplateKind kind =
      new TemplateKind(
          () -> FACTS,
          () -> OperatorConfig.DEFAULT,
          DriverUsage::none,
          Optional.empty(),
          List.of());

  @Test
  void reportOfAnErrorTouchesNoNode() {
    CSIDriverDeployment resource = resource("one", 1);

    CSIDriverDeploymentStatus status =
        kind.status()
            .failed(
                resource, new Problem(Cause.SERVER_ERROR, "the server is down"), new Installed())
            .next(resource.getStatus(), Instant.EPOCH);

    assertThat(status.condition("SyncSuccessful"))
        .hasValueSatisfying(
            condition -> {
              assertThat(condition.status()).isEqualTo("False");
              assertThat(condition.reason()).isEqualTo("ServerError");
              assertThat(condition.message()).isEqualTo("the server is down");
            });
    assertThat(status.nodeUpdate()).isNull();
  }

  @Test
  void youngerResourceWaitsForTheOlderOneAndTheOlderOneTriggersIt() {
    CSIDriverDeployment older = resource("older", 1);
    CSIDriverDeployment younger = resource("younger", 2);

    TemplatePlan lost = kind.decide(younger, observed(older, Set.of()));
    TemplatePlan won = kind.decide(older, observed(younger, Set.of()));
    TemplatePlan known =
        kind.decide(older, observed(younger, Set.of(ResourceID.fromResource(younger))));

    assertThat(lost.action())
        .isInstanceOfSatisfying(
            Action.Block.class,
            block -> assertThat(block.problem().cause()).isEqualTo(Cause.CONFLICT));
    assertThat(lost.waitsFor()).containsExactly(ResourceID.fromResource(older));
    assertThat(won.action()).isInstanceOf(Action.Apply.class);
    assertThat(won.triggers()).containsExactly(ResourceID.fromResource(younger));
    assertThat(known.triggers()).isEmpty();
  }

  @Test
  void aFormerDriverStaysWhileVolumesNeedIt() {
    CSIDriverDeployment resource = resource("renamed", 1);
    var used =
        new DriverUsage(
            "old.example.com",
            SampledCount.of(List.of("pv-1")),
            SampledCount.NONE,
            SampledCount.NONE,
            SampledCount.NONE);
    TemplateObservation observed =
        new TemplateObservation(
            FACTS,
            OperatorConfig.DEFAULT,
            List.of(),
            Set.of(),
            List.of(),
            NameOwners.NONE,
            List.of(DriverUsage.none("unused.example.com"), used));

    assertThat(kind.decide(resource, observed).action())
        .isInstanceOfSatisfying(
            Action.Block.class,
            block -> {
              assertThat(block.problem().cause()).isEqualTo(Cause.DRIVER_IN_USE);
              assertThat(block.problem().message()).contains("1 PersistentVolume (pv-1)");
              assertThat(block.restore().orElseThrow().getMetadata().getName())
                  .isEqualTo("old.example.com");
            });
  }

  /** The dry run reports those that the server does not have. */
  @Test
  void fieldsThatTheClientLibraryDoesNotKnowAreLeftToANewerServer() {
    CSIDriverDeployment resource = resource("newer", 1);
    JsonNode template = Objects.requireNonNull(resource.getSpec().driverPerNodeTemplate());
    ((ObjectNode) template.path("spec")).put("fieldOf1dot99", 1);
    ClusterFacts older = ClusterFacts.assumed(KubernetesVersion.parse("1.36"), "ns", "any");
    ClusterFacts newer = ClusterFacts.assumed(KubernetesVersion.parse("1.99"), "ns", "any");

    assertThat(kind.decide(resource, observed(older, resource, Set.of())).action())
        .isInstanceOf(Action.Block.class);
    assertThat(kind.decide(resource, observed(newer, resource, Set.of())).action())
        .isInstanceOfSatisfying(
            Action.Apply.class,
            apply ->
                assertThat(apply.desired().objects())
                    .anySatisfy(
                        object ->
                            assertThat(new KubernetesSerialization().asJson(object))
                                .contains("fieldOf1dot99")));
  }

  private static TemplateObservation observed(
      CSIDriverDeployment peer, Set<ResourceID> waitingPeers) {
    return observed(FACTS, peer, waitingPeers);
  }

  private static TemplateObservation observed(
      ClusterFacts facts, CSIDriverDeployment peer, Set<ResourceID> waitingPeers) {
    return new TemplateObservation(
        facts,
        OperatorConfig.DEFAULT,
        List.of(peer),
        waitingPeers,
        List.of(),
        NameOwners.NONE,
        List.of());
  }

  private static CSIDriverDeployment resource(String name, int second) {
    CSIDriverDeployment resource =
        new KubernetesSerialization()
            .unmarshal(
                """
                spec:
                  driverName: same.example.com
                  driverSocket: /csi/csi.sock
                  nodeUpdateStrategy: Draining
                  driverPerNodeTemplate:
                    spec:
                      containers:
                        - {name: driver, image: driver, securityContext: {privileged: true}}
                """,
                CSIDriverDeployment.class);
    resource.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withNamespace("ns")
            .withUid("uid-" + name)
            .withGeneration(1L)
            .withCreationTimestamp("2030-01-01T00:00:0%dZ".formatted(second))
            .build());
    return resource;
  }

  /** A cluster in which the nodes of the driver are outdated. */
  private static final class Installed implements ClusterReader<CSIDriverDeployment> {

    @Override
    public <T extends HasMetadata> List<T> owned(Class<T> type) {
      return type == DaemonSet.class ? List.of(type.cast(outdated())) : List.of();
    }

    private static DaemonSet outdated() {
      return new DaemonSetBuilder()
          .withNewMetadata()
          .withName("one-node")
          .withGeneration(1L)
          .endMetadata()
          .withNewSpec()
          .withNewTemplate()
          .withNewSpec()
          .endSpec()
          .endTemplate()
          .endSpec()
          .withNewStatus()
          .withObservedGeneration(1L)
          .withDesiredNumberScheduled(2)
          .withUpdatedNumberScheduled(1)
          .endStatus()
          .build();
    }

    @Override
    public boolean ownsObjects() {
      return true;
    }

    @Override
    public <T extends HasMetadata> Optional<T> find(T example) {
      throw new AssertionError("reads nothing but caches");
    }

    @Override
    public <T extends HasMetadata> Optional<T> watched(T example, String source) {
      return Optional.empty();
    }

    @Override
    public <T extends HasMetadata> List<T> watched(
        Class<T> type, String source, Predicate<T> which) {
      return List.of();
    }

    @Override
    public List<CSIDriverDeployment> peers(String index, Collection<String> keys) {
      return List.of();
    }

    @Override
    public KubernetesClient client() {
      throw new AssertionError("reads nothing but caches");
    }
  }
}
