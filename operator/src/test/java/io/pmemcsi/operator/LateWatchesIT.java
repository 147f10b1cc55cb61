package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.embedded.fault.EventFault;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.SeenEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The operator watches its resources several times: as those that it reconciles, as peers of each
 * other, and as peers of drivers from templates. One watch may lag behind the others.
 */
class LateWatchesIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration LATE = Duration.ofMillis(150);
  private static final String NODE = "node";
  private static final String ONE = "one.example.com";
  private static final String TWO = "two.example.com";

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void conflictStartsAndEndsWhicheverWatchLags(int which) {
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

  /** The operator compares with the status that it wrote last, whatever the informer shows. */
  @Test
  void pmemStatusFollowsThePodsWhileTheInformerLags() {
    try (var world = new EmbeddedWorld()) {
      world.start();
      create(world, ONE, "test/one");
      followsThePods(
          world,
          "pmemcsideployments",
          "one-example-com-node",
          () ->
              world
                  .client()
                  .resources(PmemCSIDeployment.class)
                  .withName(ONE)
                  .get()
                  .getStatus()
                  .phaseOrNew()
                  .equals("Running"));
    }
  }

  @Test
  void templateStatusFollowsThePodsWhileTheInformerLags() {
    try (var world = new EmbeddedWorld()) {
      world.start();
      var driver = new TemplateResource(world.client(), EmbeddedWorld.NAMESPACE, "late");
      driver.create(
          """
          apiVersion: csidriver.storage.openshift.io/v1alpha1
          kind: CSIDriverDeployment
          metadata: {name: late}
          spec:
            driverName: late.example.com
            driverSocket: /csi/csi.sock
            driverPerNodeTemplate:
              spec:
                containers:
                  - {name: driver, image: driver, securityContext: {privileged: true}}
          """);
      followsThePods(
          world,
          "csidriverdeployments",
          "late-node",
          () ->
              driver
                  .status()
                  .condition("Available")
                  .filter(condition -> condition.status().equals("True"))
                  .isPresent());
    }
  }

  /** Back and forth: compared with an outdated status, the way back would seem to be known. */
  private static void followsThePods(
      EmbeddedWorld world, String plural, String daemonSet, BooleanSupplier available) {
    var workload =
        world.client().apps().daemonSets().inNamespace(EmbeddedWorld.NAMESPACE).withName(daemonSet);
    await().atMost(LIMIT).until(() -> workload.get() != null);
    world.awaitQuiet();
    world
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public EventFault onEvent(SeenEvent event) {
                return event.plural().equals(plural) ? new EventFault.Drop() : EventFault.NONE;
              }
            });
    for (int ready : new int[] {1, 0, 1, 0}) {
      workload.editStatus(
          found ->
              new DaemonSetBuilder(found)
                  .withNewStatus()
                  .withObservedGeneration(found.getMetadata().getGeneration())
                  .withDesiredNumberScheduled(1)
                  .withCurrentNumberScheduled(1)
                  .withUpdatedNumberScheduled(1)
                  .withNumberReady(ready)
                  .endStatus()
                  .build());
      await("ready pods: " + ready)
          .atMost(LIMIT)
          .until(() -> available.getAsBoolean() == (ready == 1));
    }
    world.faults().clear();
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
