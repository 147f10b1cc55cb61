package io.pmemcsi.app.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With the rights that the operator gives to the pods of this mode, and no others. */
@WithKubernetes(controllers = false)
class NodeConversionIT {

  private static final String ACCOUNT = "node-setup";
  private static final String ASKING = "second.example.org/convert-raw-namespaces";
  private static final NodeSelector SELECTOR =
      new NodeSelector(Map.of("storage", "pmem", "example.org/disk", "nvdimm"));

  private final List<String> explained = new ArrayList<>();
  private Sandbox sandbox;

  @BeforeEach
  void giveRights(Sandbox fresh) {
    sandbox = fresh;
    String namespace = sandbox.namespace();
    sandbox.create(
        new ServiceAccountBuilder().withNewMetadata().withName(ACCOUNT).endMetadata().build());
    sandbox.create(
        new ClusterRoleBuilder()
            .withNewMetadata()
            .withName(namespace)
            .endMetadata()
            .addNewRule()
            .withApiGroups("")
            .withResources("nodes")
            .withVerbs("patch")
            .endRule()
            .build());
    sandbox.create(
        new ClusterRoleBindingBuilder()
            .withNewMetadata()
            .withName(namespace)
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", namespace)
            .addNewSubject()
            .withKind("ServiceAccount")
            .withName(ACCOUNT)
            .withNamespace(namespace)
            .endSubject()
            .build());
    sandbox.awaitRight(ACCOUNT, "patch", "", "nodes");
  }

  @Test
  void theNodeGetsItsLabelsAndAsksNoMore() {
    String node = node(Map.of(ASKING, "force", "storage", "none", "kept", "yes"));

    conversion(node).run(() -> 2, () -> explained.add(node));

    assertThat(labels(node))
        .containsEntry("storage", "pmem")
        .containsEntry("example.org/disk", "nvdimm")
        .containsEntry("kept", "yes")
        .doesNotContainKey(ASKING);
    assertThat(explained).isEmpty();
  }

  @Test
  void doingItAgainChangesNothing() {
    String node = node(Map.of(ASKING, "force"));
    conversion(node).run(() -> 2, () -> explained.add(node));

    // where controllers run they note something about a new node, too
    await()
        .untilAsserted(
            () -> {
              Node before = sandbox.client().nodes().withName(node).get();
              conversion(node).run(() -> 2, () -> explained.add(node));
              assertThat(sandbox.client().nodes().withName(node).get()).isEqualTo(before);
            });
  }

  @Test
  void aFailedConversionLeavesTheLabelsAndIsExplained() {
    String node = node(Map.of(ASKING, "force"));

    assertThatThrownBy(
            () ->
                conversion(node)
                    .run(
                        () -> {
                          throw new FatalException("no memory");
                        },
                        () -> explained.add(node)))
        .hasMessage("no memory");

    assertThat(labels(node)).containsEntry(ASKING, "force").doesNotContainKey("storage");
    assertThat(explained).containsExactly(node);
  }

  @Test
  void aNodeThatIsNotThereIsNamed() {
    assertThatThrownBy(
            () -> conversion("no-such-node").run(() -> 1, () -> explained.add("no-such-node")))
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("cannot change the labels of node no-such-node: ")
        .hasMessageContaining("not found")
        .hasMessageContaining("check -nodeid");
    assertThat(explained).containsExactly("no-such-node");
  }

  private NodeConversion conversion(String node) {
    KubernetesClient limited = sandbox.clientAs(ACCOUNT);
    return new NodeConversion(limited, node, new DriverName("second.example.org"), SELECTOR);
  }

  private String node(Map<String, String> labels) {
    return sandbox
        .create(
            new NodeBuilder()
                .withNewMetadata()
                .withName(sandbox.namespace())
                .withLabels(labels)
                .endMetadata()
                .build())
        .getMetadata()
        .getName();
  }

  private Map<String, String> labels(String node) {
    return sandbox.client().nodes().withName(node).get().getMetadata().getLabels();
  }
}
