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
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.controller.CleanupListener;
import io.pmemcsi.operator.controller.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.runtime.ControllerFactory;
import io.pmemcsi.operator.runtime.RetryPolicy;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A resource that is deleted and recreated at once. */
class RecreatedResourceTest {

  private static final String PMEM = "back.example.com";
  private static final KubernetesVersion VERSION = KubernetesVersion.parse("1.20");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Clock clock = Clock.systemUTC();
  private final AtomicInteger added = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final CountDownLatch ending = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  @Test
  void resourceThatIsRecreatedDuringCleanupIsReconciled() throws Exception {
    try (var testbed = new EmbeddedTestbed()) {
      Operator operator = operator(testbed.client(), _ -> hold());
      operator.start();
      try {
        var driver = new TemplateResource(testbed.client(), EmbeddedTestbed.NAMESPACE, "back");
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

  /** JOSDK would relate the events of the new resource to the deleted one. */
  @Test
  void resourceThatIsRecreatedBeforeTheDeletionIsKnownIsReconciled() throws Exception {
    try (var testbed = new EmbeddedTestbed();
        KubernetesClient client = clientWithLongTimeout(testbed)) {
      List<String> forgotten = new CopyOnWriteArrayList<>();
      Operator operator = operator(client, one -> forgotten.add(one.getMetadata().getUid()));
      operator.start();
      try {
        var resource = testbed.client().resources(PmemCSIDeployment.class).withName(PMEM);
        createPmem(testbed.client());
        awaitInitializing(testbed.client());
        String former = resource.get().getMetadata().getUid();
        testbed.faults().follow(new LateResponse());
        resource.delete();
        await().until(() -> resource.get() == null);
        testbed.faults().clear();

        createPmem(testbed.client());
        goOn.countDown();
        awaitInitializing(testbed.client());
        await().untilAsserted(() -> assertThat(ended).hasValueGreaterThanOrEqualTo(1));
        assertThat(forgotten).isNotEmpty().containsOnly(former);

        var driver = testbed.client().storage().v1().csiDrivers().withName(PMEM);
        driver.delete();
        await().untilAsserted(() -> assertThat(driver.get()).isNotNull());
      } finally {
        goOn.countDown();
        operator.stop();
      }
    }
  }

  @Test
  void resourceWhoseFinalizerAUserRemovesIsForgotten() {
    var deleted = new AtomicInteger();
    try (var testbed = new EmbeddedTestbed()) {
      Operator operator = operator(testbed.client(), _ -> deleted.incrementAndGet());
      createPmem(testbed.client());
      var resource = testbed.client().resources(PmemCSIDeployment.class).withName(PMEM);
      operator.start();
      try {
        awaitInitializing(testbed.client());
        testbed.faults().follow(new RefusedDeletions());
        resource.delete();
        Edits.edit(
            resource,
            found -> {
              found.getMetadata().setFinalizers(List.of());
              return found;
            });
        await().untilAsserted(() -> assertThat(resource.get()).isNull());
        await().untilAsserted(() -> assertThat(deleted).hasValueGreaterThan(0));
      } finally {
        operator.stop();
      }
    }
  }

  /** A failure to release its nodes is retried. */
  @Test
  void resourceIsForgottenAlthoughNodesCannotBeReleased() {
    var deleted = new AtomicInteger();
    try (var testbed = new EmbeddedTestbed()) {
      Operator operator = operator(testbed.client(), _ -> deleted.incrementAndGet());
      testbed.faults().follow(new RefusedNodeLists());
      operator.start();
      try {
        var driver = new TemplateResource(testbed.client(), EmbeddedTestbed.NAMESPACE, "back");
        driver.create();
        await()
            .untilAsserted(() -> assertThat(driver.get().getMetadata().getFinalizers()).hasSize(1));
        driver.resource().delete();
        Edits.edit(
            driver.resource(),
            found -> {
              found.getMetadata().setFinalizers(List.of());
              return found;
            });
        await().untilAsserted(() -> assertThat(driver.get()).isNull());
        await().untilAsserted(() -> assertThat(deleted).hasValueGreaterThan(0));
      } finally {
        operator.stop();
      }
    }
  }

  private static final class RefusedNodeLists implements FaultPlan {
    @Override
    public RequestFault onRequest(SeenRequest request) {
      return request.verb().equals("list") && request.plural().equals("nodes")
          ? new RequestFault.Fail(503, RequestFault.Moment.BEFORE)
          : RequestFault.NONE;
    }
  }

  /** Keeps the operator from finishing the deletion itself. */
  private static final class RefusedDeletions implements FaultPlan {
    @Override
    public RequestFault onRequest(SeenRequest request) {
      return request.verb().equals("delete") && !request.plural().equals("pmemcsideployments")
          ? new RequestFault.Fail(503, RequestFault.Moment.BEFORE)
          : RequestFault.NONE;
    }
  }

  private static void createPmem(KubernetesClient client) {
    client.resource(PmemResource.of(PMEM, "deviceMode: lvm")).create();
  }

  private static void awaitInitializing(KubernetesClient client) {
    await()
        .untilAsserted(
            () -> {
              var status =
                  client.resources(PmemCSIDeployment.class).withName(PMEM).get().getStatus();
              assertThat(status.phaseOrNew()).as(status.reason()).isEqualTo("Initializing");
            });
  }

  /** Waits for a response as long as the test takes. */
  private static KubernetesClient clientWithLongTimeout(EmbeddedTestbed testbed) {
    Config config =
        new ConfigBuilder(testbed.client().getConfiguration())
            .withRequestTimeout(Math.toIntExact(LIMIT.multipliedBy(3).toMillis()))
            .build();
    return Clients.to(config).build();
  }

  private Operator operator(KubernetesClient client, Consumer<HasMetadata> onDeletion) {
    var kinds =
        Kinds.of(
            EmbeddedTestbed.NAMESPACE,
            () -> ClusterFacts.assumed(VERSION, EmbeddedTestbed.NAMESPACE, EmbeddedTestbed.IMAGE),
            () -> OperatorConfig.DEFAULT,
            DriverUsage::none,
            new NodeUpdates(client, () -> VERSION, clock),
            clock);
    var cleanups = new CleanupListener();
    var operator =
        new Operator(
            overrider ->
                overrider
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    .withMetrics(new AggregatedMetrics(List.of(cleanups, new Observed()))));
    new ControllerFactory(
            kinds,
            operator,
            client,
            new EventWriter(client, "test", clock),
            new OnDeletion(onDeletion),
            cleanups,
            RetryPolicy.DEFAULT,
            clock)
        .registerAll();
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

  /** Counts events about new resources, and cleanups. */
  private final class Observed implements Metrics {
    @Override
    public void receivedEvent(Event event, Map<String, Object> metadata) {
      if (event instanceof ResourceEvent found && found.getAction() == ResourceAction.ADDED) {
        added.incrementAndGet();
      }
    }

    @Override
    public void cleanupDoneFor(ResourceID resource, Map<String, Object> metadata) {
      ended.incrementAndGet();
    }
  }

  /** Holds the response to the request that removes the finalizer. */
  private final class LateResponse implements FaultPlan {
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

  private record OnDeletion(Consumer<HasMetadata> action) implements OutcomeListener {

    @Override
    public void applied(HasMetadata resource, Outcome outcome) {}

    @Override
    public void ownedObjects(HasMetadata resource, List<HasMetadata> objects) {}

    @Override
    public void status(HasMetadata resource, String phase, Optional<Instant> certificateExpires) {}

    @Override
    public void deleted(HasMetadata resource) {
      action.accept(resource);
    }
  }
}
