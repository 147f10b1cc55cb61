package io.pmemcsi.operator.rollout.draining;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.apps.ControllerRevisionBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NodeUpdatesTest {

  private static final String NODE = "node";
  private static final String DRIVER = "csi.example.com";

  @Test
  void planningWritesNothingAndReleasesNoOrphan() {
    try (var server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      client.resource(annotatedNode()).create();
      var writes = new AtomicInteger();
      server.faults().onWrite(write -> writes.incrementAndGet());
      var updates = new NodeUpdates(client, () -> new KubernetesVersion(1, 30), Clock.systemUTC());
      UpdateRequest request = request(client.resource(daemonSet()).create());
      writes.set(0);

      for (NodeUpdateStrategy strategy : NodeUpdateStrategy.values()) {
        updates.plan(with(strategy, request));
        updates.planPaused(with(strategy, request), "the resource is invalid");
        updates.planRelease(with(strategy, request));
      }

      assertThat(writes).hasValue(0);
      assertThat(NodeSnapshotReader.annotations(client.nodes().withName(NODE).get())).isNotEmpty();
    }
  }

  /** The report of an error must not move pods, and the next execution must. */
  @Test
  void pausedPlanReportsANodeInProgressThatOnlyItsExecutionReleases() {
    try (var server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      client.resource(annotatedNode()).create();
      var updates = new NodeUpdates(client, () -> new KubernetesVersion(1, 30), Clock.systemUTC());
      // without a driver pod on the node, which the DaemonSet no longer matches
      DaemonSet daemonSet = client.resource(daemonSet()).create();
      client
          .resource(
              new ControllerRevisionBuilder()
                  .withNewMetadata()
                  .withName("revision")
                  .withNamespace("default")
                  .withLabels(Map.of("app", "driver", "controller-revision-hash", "new"))
                  .addNewOwnerReference()
                  .withApiVersion("apps/v1")
                  .withKind("DaemonSet")
                  .withName("driver")
                  .withUid(daemonSet.getMetadata().getUid())
                  .endOwnerReference()
                  .endMetadata()
                  .withRevision(1L)
                  .build())
          .create();
      UpdateRequest request = with(NodeUpdateStrategy.DRAINING, request(daemonSet));

      NodeUpdatePlan plan = updates.planPaused(request, "the resource is invalid");

      assertThat(plan.status().message()).contains("the resource is invalid");
      assertThat(NodeSnapshotReader.isCordoned(client.nodes().withName(NODE).get())).isTrue();
      updates.execute(plan);
      assertThat(NodeSnapshotReader.isCordoned(client.nodes().withName(NODE).get())).isFalse();
    }
  }

  @Test
  void orphanedNodeThatCannotBeReleasedBlocksNoOtherResource() {
    try (var server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      client.resource(annotatedNode()).create();
      server.faults().follow(refusingNodes());
      var updates = new NodeUpdates(client, () -> new KubernetesVersion(1, 30), Clock.systemUTC());
      var other = new CSIDriverDeployment();
      other.getMetadata().setUid("other");

      assertThatCode(() -> updates.release(other)).doesNotThrowAnyException();
      assertThatThrownBy(updates::releaseOrphans)
          .hasMessageContaining("nodes that were cordoned for an update cannot be released yet");
      server.faults().clear();
      updates.releaseOrphans();

      Node released = client.nodes().withName(NODE).get();
      assertThat(NodeSnapshotReader.annotations(released)).isEmpty();
      assertThat(NodeSnapshotReader.isCordoned(released)).isFalse();
    }
  }

  private static Node annotatedNode() {
    var annotation = new DrainAnnotation("orphan", "ns/orphan", Step.CORDONED, Instant.EPOCH, true);
    return new NodeBuilder()
        .withNewMetadata()
        .withName(NODE)
        .withAnnotations(Map.of(DrainAnnotation.key(DRIVER), annotation.text()))
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(true)
        .endSpec()
        .build();
  }

  private static DaemonSet daemonSet() {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName("driver")
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .withNewSelector()
        .addToMatchLabels("app", "driver")
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .addToLabels("app", "driver")
        .endMetadata()
        .withNewSpec()
        .addToNodeSelector("storage", "pmem")
        .addNewContainer()
        .withName("driver")
        .withImage("driver")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  /** As the DaemonSet controller reports an outdated node. */
  private static UpdateRequest request(DaemonSet daemonSet) {
    return new UpdateRequest(
        "orphan",
        "ns/orphan",
        DRIVER,
        NodeUpdateStrategy.ROLLING,
        new Draining(1, 60, 60, 60, null),
        new DaemonSetBuilder(daemonSet)
            .withNewStatus()
            .withObservedGeneration(daemonSet.getMetadata().getGeneration())
            .withDesiredNumberScheduled(1)
            .withUpdatedNumberScheduled(0)
            .endStatus()
            .build());
  }

  private static UpdateRequest with(NodeUpdateStrategy strategy, UpdateRequest request) {
    return new UpdateRequest(
        request.owner(),
        request.resource(),
        request.driver(),
        strategy,
        request.settings(),
        request.daemonSet());
  }

  private static FaultPlan refusingNodes() {
    return new FaultPlan() {
      @Override
      public RequestFault onRequest(SeenRequest request) {
        return request.write() && request.plural().equals("nodes")
            ? new RequestFault.Fail(403, Moment.BEFORE)
            : RequestFault.NONE;
      }
    };
  }

  private static KubernetesClient client(EmbeddedKubernetes server) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(server.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    return Clients.to(config).build();
  }
}
