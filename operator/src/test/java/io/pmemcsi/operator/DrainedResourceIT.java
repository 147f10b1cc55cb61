package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.generic.NodeUpdate;
import io.pmemcsi.testbed.kubernetes.PaperNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A resource with the update strategy Draining, from its template to its status and its end. */
@WithKubernetes
class DrainedResourceIT {

  private static final String ID = "drained";

  private KubernetesClient client;

  @BeforeEach
  void use(Sandbox sandbox) {
    client = sandbox.client();
  }

  @Test
  void changedTemplateReachesEmptyNodesAndDeletionReleasesThem(Sandbox sandbox) {
    try (var nodes = PaperNodes.create(sandbox.cluster(), 2, DrainingStage.labels(ID)).runPods()) {
      var stage = DrainingStage.withOperator(sandbox, ID, nodes.names());
      stage.play(stage::isSettled);
      Map<String, String> before = stage.driverPods();

      stage.changeTemplate();
      stage.play(() -> !stage.marked().isEmpty());
      stage.operator().stop();
      stage.operator().start();
      stage.play(() -> update().filter(found -> isDone(found, before, stage)).isPresent());

      assertThat(stage.cordoned()).isEmpty();
      assertThat(stage.marked()).isEmpty();
      assertThat(update())
          .hasValueSatisfying(
              found -> {
                assertThat(found.nodes()).isEqualTo(2);
                assertThat(found.outdated()).isEmpty();
                assertThat(found.paused()).isNull();
              });

      stage.budget("web-budget");
      stage.changeTemplate();
      stage.play(() -> !stage.cordoned().isEmpty());
      client.resources(CSIDriverDeployment.class).withName("drained").delete();
      stage.play(
          () -> client.resources(CSIDriverDeployment.class).withName("drained").get() == null);

      assertThat(stage.cordoned()).isEmpty();
      assertThat(stage.marked()).isEmpty();
    }
  }

  private static boolean isDone(NodeUpdate found, Map<String, String> before, DrainingStage stage) {
    var pods = new HashSet<>(stage.driverPods().values());
    pods.retainAll(before.values());
    return pods.isEmpty()
        && stage.isSettled()
        && stage.marked().isEmpty()
        && Integer.valueOf(2).equals(found.updatedNodes());
  }

  private Optional<NodeUpdate> update() {
    return Optional.ofNullable(
        client
            .resources(CSIDriverDeployment.class)
            .withName("drained")
            .get()
            .getStatus()
            .nodeUpdate());
  }
}
