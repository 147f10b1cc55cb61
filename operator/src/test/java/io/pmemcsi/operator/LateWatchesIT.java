package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.embedded.fault.EventFault;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.SeenEvent;
import io.pmemcsi.operator.controller.StatusPublisher;
import io.pmemcsi.operator.events.EventMessage;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.metrics.OperatorMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The operator watches its resources several times: as those that it looks after, as neighbours of
 * each other, and as neighbours of drivers from templates. One watch may be behind the others.
 */
class LateWatchesIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration LATE = Duration.ofMillis(150);
  private static final String NODE = "node";
  private static final String ONE = "one.example.com";
  private static final String TWO = "two.example.com";

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void clashComesAndGoesWhicheverWatchIsLate(int which) {
    try (var world = new EmbeddedWorld()) {
      var watches = new ConcurrentSkipListSet<Long>();
      world.faults().follow(onWatchOfResources(watches, Optional.empty()));
      world.start();
      create(world, ONE, "test/one");
      await().atMost(LIMIT).untilAsserted(() -> assertThat(watches).hasSize(3));
      world
          .client()
          .resource(
              new NodeBuilder()
                  .withNewMetadata()
                  .withName(NODE)
                  .withLabels(Map.of("test/one", "yes", "test/two", "yes"))
                  .endMetadata()
                  .build())
          .create();
      long late = List.copyOf(watches).get(which);
      world.faults().follow(onWatchOfResources(watches, Optional.of(late)));

      create(world, TWO, "test/two");
      awaitExclusive(world, ONE, "False");
      awaitExclusive(world, TWO, "False");

      // the late watch does not show the warnings yet
      label(world, "no");
      awaitExclusive(world, ONE, "True");
      awaitExclusive(world, TWO, "True");

      label(world, "yes");
      awaitExclusive(world, ONE, "False");
      awaitExclusive(world, TWO, "False");

      world.client().resources(PmemCSIDeployment.class).withName(TWO).delete();
      awaitExclusive(world, ONE, "True");
    }
  }

  /** What was told is not told again because a cache does not show it yet. */
  @Test
  void statusIsAnnouncedOnceAlsoWhenTheCacheIsLate() {
    try (var world = new EmbeddedWorld()) {
      PmemCSIDeployment late = create(world, ONE, "test/one");
      var publisher =
          new StatusPublisher<PmemCSIDeployment, PmemCSIDeploymentStatus, String>(
              new Phases(),
              new EventWriter(world.client(), "test", Clock.systemUTC()),
              new OperatorMetrics(new PrometheusRegistry(), "test"),
              Clock.systemUTC());

      publisher.publish(late, "Initializing", world.client());
      publisher.publish(late, "Running", world.client());
      publisher.publish(late, "Running", world.client());

      assertThat(world.client().v1().events().inNamespace("default").list().getItems())
          .extracting(Event::getReason)
          .containsExactlyInAnyOrder("Initializing", "Running");
    }
  }

  /** A status that is nothing but a phase, and an event for each change of it. */
  private static final class Phases
      implements StatusPublisher.StatusMapper<PmemCSIDeploymentStatus, String> {

    @Override
    public PmemCSIDeploymentStatus next(
        PmemCSIDeploymentStatus previous, String found, Instant now) {
      return new PmemCSIDeploymentStatus(
          found, null, 1L, List.of(), List.of(), List.of(), null, null);
    }

    @Override
    public List<EventMessage> announcements(
        PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
      return List.of(EventMessage.normal(next.phaseOrNew(), ""));
    }

    @Override
    public String occasion(PmemCSIDeploymentStatus previous) {
      return previous.phaseOrNew();
    }

    @Override
    public String phase(PmemCSIDeploymentStatus status) {
      return status.phaseOrNew();
    }
  }

  private static FaultPlan onWatchOfResources(NavigableSet<Long> seen, Optional<Long> late) {
    return new FaultPlan() {
      @Override
      public EventFault onEvent(SeenEvent event) {
        if (!event.plural().equals("pmemcsideployments")) {
          return EventFault.NONE;
        }
        seen.add(event.watch());
        return late.filter(watch -> watch == event.watch()).isPresent()
            ? new EventFault.Delay(LATE)
            : EventFault.NONE;
      }
    };
  }

  private static PmemCSIDeployment create(EmbeddedWorld world, String name, String label) {
    return world
        .client()
        .resource(PmemResource.of(name, "nodeSelector: {%s: \"yes\"}".formatted(label)))
        .create();
  }

  private static void label(EmbeddedWorld world, String value) {
    Edits.edit(
        world.client().nodes().withName(NODE),
        node -> {
          node.getMetadata().getLabels().put("test/two", value);
          return node;
        });
  }

  private static void awaitExclusive(EmbeddedWorld world, String name, String status) {
    await(name + " " + status)
        .pollInterval(Duration.ofMillis(20))
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        world
                            .client()
                            .resources(PmemCSIDeployment.class)
                            .withName(name)
                            .get()
                            .getStatus()
                            .condition("NodesExclusive")
                            .map(DeploymentCondition::status))
                    .contains(status));
  }
}
