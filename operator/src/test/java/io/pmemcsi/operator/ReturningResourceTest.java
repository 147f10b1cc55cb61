package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.controller.CleanupListener;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.kinds.pmem.PmemReconciler;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.kinds.template.TemplateReconciler;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.testbed.kubernetes.Clients;
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

  private static final String PMEM = "back.example.com";
  private static final KubernetesVersion VERSION = KubernetesVersion.parse("1.30");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Clock clock = Clock.systemUTC();
  private final AtomicInteger added = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final CountDownLatch ending = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  @Test
  void resourceThatComesWhileTheEndOfTheOneBeforeIsDealtWithIsLookedAt() throws Exception {
    try (var world = new EmbeddedWorld()) {
      Operator operator = genericOperator(world.client());
      operator.start();
      try {
        var driver = new TemplateResource(world.client(), EmbeddedWorld.NAMESPACE, "back");
        driver.create();
        driver.awaitSynced();
        driver.resource().delete();
        assertThat(ending.await(2, TimeUnit.MINUTES)).isTrue();

        driver.create();
        await().untilAsserted(() -> assertThat(added).hasValue(2));
        goOn.countDown();

        driver.awaitSynced();
      } finally {
        goOn.countDown();
        operator.stop();
      }
    }
  }

  /** The SDK takes the finalizer off, and would take the new one for the one that is gone. */
  @Test
  void resourceThatComesBeforeTheOneBeforeIsKnownToBeGoneIsLookedAfter() throws Exception {
    try (var world = new EmbeddedWorld();
        KubernetesClient client = patientClient(world)) {
      Operator operator = pmemOperator(client);
      operator.start();
      try {
        var resource = world.client().resources(PmemCSIDeployment.class).withName(PMEM);
        makePmem(world.client());
        world.faults().follow(new LateAnswer());
        resource.delete();
        await().until(() -> resource.get() == null);
        world.faults().clear();

        makePmem(world.client());
        goOn.countDown();
        // once for the watch that shows the end, once for the call that brought it about
        await().untilAsserted(() -> assertThat(ended).hasValueGreaterThanOrEqualTo(2));

        var driver = world.client().storage().v1().csiDrivers().withName(PMEM);
        driver.delete();
        await().untilAsserted(() -> assertThat(driver.get()).isNotNull());
      } finally {
        goOn.countDown();
        operator.stop();
      }
    }
  }

  private static void makePmem(KubernetesClient client) {
    client.resource(PmemResource.of(PMEM, "deviceMode: lvm")).create();
    await()
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .resources(PmemCSIDeployment.class)
                            .withName(PMEM)
                            .get()
                            .getStatus()
                            .phaseOrNew())
                    .isEqualTo("Initializing"));
  }

  /** Waits for an answer as long as the test takes. */
  private static KubernetesClient patientClient(EmbeddedWorld world) {
    Config config =
        new ConfigBuilder(world.client().getConfiguration())
            .withRequestTimeout(Math.toIntExact(LIMIT.multipliedBy(3).toMillis()))
            .build();
    return Clients.to(config).build();
  }

  private Operator pmemOperator(KubernetesClient client) {
    var pmem =
        new PmemReconciler(
            () -> ClusterFacts.assumed(VERSION, EmbeddedWorld.NAMESPACE, EmbeddedWorld.IMAGE),
            EmbeddedWorld.NAMESPACE,
            DriverUsage::none,
            new EventWriter(client, "test", clock),
            new AtTheEnd(() -> {}),
            clock);
    var ends = new CleanupListener();
    ends.listen(HasMetadata.getKind(PmemCSIDeployment.class), pmem::forgotten);
    Operator operator = operator(client, ends);
    operator.register(
        pmem,
        overrider ->
            overrider.withName("pmemcsideployment").withFieldManager(PmemReconciler.FIELD_MANAGER));
    return operator;
  }

  private Operator operator(KubernetesClient client, CleanupListener ends) {
    return new Operator(
        overrider ->
            overrider
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                .withMetrics(new AggregatedMetrics(List.of(ends, new Heard()))));
  }

  private Operator genericOperator(KubernetesClient client) {
    var generic =
        new TemplateReconciler(
            () -> ClusterFacts.assumed(VERSION, EmbeddedWorld.NAMESPACE, EmbeddedWorld.IMAGE),
            () -> OperatorConfig.DEFAULT,
            new DeletionGuard(DriverUsage::none, CSIDriverDeployment.FORCE_DELETION_ANNOTATION),
            new NodeUpdates(client, () -> VERSION, clock),
            new EventWriter(client, "test", clock),
            new AtTheEnd(this::hold),
            clock);
    var ends = new CleanupListener();
    ends.listen(HasMetadata.getKind(CSIDriverDeployment.class), generic::forgotten);
    Operator operator = operator(client, ends);
    operator.register(
        generic,
        overrider ->
            overrider
                .withName("csidriverdeployment")
                .withFieldManager(TemplateReconciler.FIELD_MANAGER)
                .withTriggerReconcilerOnAllEvents(true));
    return operator;
  }

  private void hold() {
    ending.countDown();
    try {
      assertThat(goOn.await(5, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Counts what the watch shows of new resources, and what the SDK is done with. */
  private final class Heard implements Metrics {
    @Override
    public void receivedEvent(Event event, Map<String, Object> metadata) {
      if (event instanceof ResourceEvent heard && heard.getAction() == ResourceAction.ADDED) {
        added.incrementAndGet();
      }
    }

    @Override
    public void cleanupDoneFor(ResourceID resource, Map<String, Object> metadata) {
      ended.incrementAndGet();
    }
  }

  /** Keeps the answer back with which the finalizer is off. */
  private final class LateAnswer implements FaultPlan {
    @Override
    public RequestFault onRequest(SeenRequest request) {
      if (!request.verb().equals("patch")
          || !request.plural().equals("pmemcsideployments")
          || !request.subresource().isEmpty()) {
        return RequestFault.NONE;
      }
      return new RequestFault.Hold(goOn);
    }
  }

  private record AtTheEnd(Runnable action) implements OutcomeListener {
    @Override
    public void applied(HasMetadata resource, Outcome outcome) {}

    @Override
    public void ownedObjects(HasMetadata resource, List<HasMetadata> objects) {}

    @Override
    public void phase(HasMetadata resource, String phase) {}

    @Override
    public void deleted(HasMetadata resource) {
      action.run();
    }
  }
}
