package io.pmemcsi.operator.rollout.draining;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.template.CSIDriverDeployment;
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
import org.junit.jupiter.api.Test;

class NodeUpdatesTest {

  private static final String NODE = "node";

  @Test
  void nodeOfALostResourceThatCannotBeReleasedKeepsNobodyWaiting() {
    try (var server = EmbeddedKubernetes.start();
        KubernetesClient client = client(server)) {
      client.resource(markedNode()).create();
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
      assertThat(NodeSnapshotReader.marks(released)).isEmpty();
      assertThat(NodeSnapshotReader.isCordoned(released)).isFalse();
    }
  }

  private static Node markedNode() {
    var mark = new DrainAnnotation("gone", "ns/gone", Step.CORDONED, Instant.EPOCH, true);
    return new NodeBuilder()
        .withNewMetadata()
        .withName(NODE)
        .withAnnotations(Map.of(DrainAnnotation.key("gone.example.com"), mark.text()))
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(true)
        .endSpec()
        .build();
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
