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
 * The operator watches its resources several times: as those that it reconciles, and as peers of
 * each other; kinds that have no resource watch nothing else. One watch may lag behind the others.
 */
class LateWatchesIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration LATE = Duration.ofMillis(150);
  private static final String NODE = "node";
  private static final String ONE = "one.example.com";
  private static final String TWO = "two.example.com";

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void conflictStartsAndEndsWhicheverWatchLags(int which) {
    try (var testbed = new EmbeddedTestbed()) {
      var watches = new ConcurrentSkipListSet<Long>();
      testbed.faults().follow(onWatchOfResources(watches, Optional.empty()));
      testbed.start();
      create(testbed, ONE, "test/one");
      await().atMost(LIMIT).untilAsserted(() -> assertThat(watches).hasSize(2));
      testbed
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
      testbed.faults().follow(onWatchOfResources(watches, Optional.of(late)));

      create(testbed, TWO, "test/two");
      awaitExclusive(testbed, ONE, "False");
      awaitExclusive(testbed, TWO, "False");

      // the late watch does not show the warnings yet
      label(testbed, "no");
      awaitExclusive(testbed, ONE, "True");
      awaitExclusive(testbed, TWO, "True");

      label(testbed, "yes");
      awaitExclusive(testbed, ONE, "False");
      awaitExclusive(testbed, TWO, "False");

      testbed.client().resources(PmemCSIDeployment.class).withName(TWO).delete();
      awaitExclusive(testbed, ONE, "True");
    }
  }

  /** The operator compares with the status that it wrote last, whatever the informer shows. */
  @Test
  void pmemStatusFollowsThePodsWhileTheInformerLags() {
    try (var testbed = new EmbeddedTestbed()) {
      testbed.start();
      create(testbed, ONE, "test/one");
      followsThePods(
          testbed,
          "pmemcsideployments",
          "one-example-com-node",
          () ->
              testbed
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
    try (var testbed = new EmbeddedTestbed()) {
      testbed.start();
      var driver = new TemplateResource(testbed.client(), EmbeddedTestbed.NAMESPACE, "late");
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
          testbed,
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

  /** Changes the status and reverts it: an outdated status would hide the second change. */
  private static void followsThePods(
      EmbeddedTestbed testbed, String plural, String daemonSet, BooleanSupplier available) {
    var workload =
        testbed
            .client()
            .apps()
            .daemonSets()
            .inNamespace(EmbeddedTestbed.NAMESPACE)
            .withName(daemonSet);
    await().atMost(LIMIT).until(() -> workload.get() != null);
    testbed.awaitQuiet();
    testbed
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
    testbed.faults().clear();
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

  private static PmemCSIDeployment create(EmbeddedTestbed testbed, String name, String label) {
    return testbed
        .client()
        .resource(PmemResource.of(name, "nodeSelector: {%s: \"yes\"}".formatted(label)))
        .create();
  }

  private static void label(EmbeddedTestbed testbed, String value) {
    Edits.edit(
        testbed.client().nodes().withName(NODE),
        node -> {
          node.getMetadata().getLabels().put("test/two", value);
          return node;
        });
  }

  private static void awaitExclusive(EmbeddedTestbed testbed, String name, String status) {
    await(name + " " + status)
        .pollInterval(Duration.ofMillis(20))
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        testbed
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
