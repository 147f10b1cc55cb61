package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.operator.draining.NodeUpdates;
import io.pmemcsi.operator.engine.Outcome;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.generic.GenericReconciler;
import io.pmemcsi.operator.generic.OperatorConfig;
import io.pmemcsi.operator.guard.DeletionGuard;
import io.pmemcsi.operator.guard.DriverUsage;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.reconcile.EndOfResource;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A resource that is deleted and made again at once. */
class ReturningResourceTest {

  private final AtomicInteger added = new AtomicInteger();
  private final CountDownLatch ending = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  @Test
  void resourceThatComesWhileTheEndOfTheOneBeforeIsDealtWithIsLookedAt() throws Exception {
    try (var world = new EmbeddedWorld()) {
      Operator operator = operator(world.client());
      operator.start();
      try {
        var driver = new GenericResource(world.client(), EmbeddedWorld.NAMESPACE, "back");
        driver.create();
        driver.awaitSynced();
        driver.resource().delete();
        assertThat(ending.await(2, TimeUnit.MINUTES)).isTrue();

        driver.create();
        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(added).hasValue(2));
        goOn.countDown();

        driver.awaitSynced();
      } finally {
        goOn.countDown();
        operator.stop();
      }
    }
  }

  private Operator operator(KubernetesClient client) {
    var version = KubernetesVersion.parse("1.30");
    var clock = Clock.systemUTC();
    var generic =
        new GenericReconciler(
            () -> ClusterFacts.assumed(version, EmbeddedWorld.NAMESPACE, EmbeddedWorld.IMAGE),
            () -> OperatorConfig.DEFAULT,
            new DeletionGuard(DriverUsage::none, CSIDriverDeployment.FORCE_DELETION_ANNOTATION),
            new NodeUpdates(client, () -> version, clock),
            new EventWriter(client, "test", clock),
            new SlowEnd(),
            clock);
    var ends = new EndOfResource();
    ends.listen(HasMetadata.getKind(CSIDriverDeployment.class), generic::forgotten);
    var operator =
        new Operator(
            overrider ->
                overrider
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    .withMetrics(new AggregatedMetrics(List.of(new Heard(), ends))));
    operator.register(
        generic,
        overrider ->
            overrider
                .withName("csidriverdeployment")
                .withFieldManager(GenericReconciler.FIELD_MANAGER)
                .withTriggerReconcilerOnAllEvents(true));
    return operator;
  }

  /** Counts what the watch shows of new resources. */
  private final class Heard implements Metrics {
    @Override
    public void receivedEvent(Event event, Map<String, Object> metadata) {
      if (event instanceof ResourceEvent heard && heard.getAction() == ResourceAction.ADDED) {
        added.incrementAndGet();
      }
    }
  }

  /** Is not done with the end of a resource before it is told. */
  private final class SlowEnd implements OutcomeListener {
    @Override
    public void brought(HasMetadata resource, Outcome outcome) {}

    @Override
    public void owns(HasMetadata resource, List<HasMetadata> objects) {}

    @Override
    public void phase(HasMetadata resource, String phase) {}

    @Override
    public void gone(HasMetadata resource) {
      ending.countDown();
      try {
        assertThat(goOn.await(5, TimeUnit.MINUTES)).isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
