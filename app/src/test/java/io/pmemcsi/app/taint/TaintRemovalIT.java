package io.pmemcsi.app.taint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the rights that the operator gives to the pods of the driver for this, and no others. */
@WithKubernetes(controllers = false)
class TaintRemovalIT {
  private static final String ACCOUNT = "node";
  private static final String DRIVER = "second.example.org";
  private static final String KEY = DRIVER + "/agent-not-ready";

  @TempDir Path account;
  private Sandbox sandbox;
  private PodApiAccess api;

  @BeforeEach
  void giveRights(Sandbox fresh) throws IOException {
    sandbox = fresh;
    String namespace = sandbox.namespace();
    sandbox.create(
        new ServiceAccountBuilder().withNewMetadata().withName(ACCOUNT).endMetadata().build());
    sandbox.create(
        new ClusterRoleBuilder()
            .withNewMetadata()
            .withName(namespace)
            .endMetadata()
            .withRules(rule("", "nodes", "get", "patch"), rule("storage.k8s.io", "csinodes", "get"))
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
    Config config = sandbox.clientAs(ACCOUNT).getConfiguration();
    Files.writeString(account.resolve("token"), config.getOauthToken() + "\n");
    Files.write(account.resolve("ca.crt"), Base64.getDecoder().decode(config.getCaCertData()));
    api = new PodApiAccess(URI.create(config.getMasterUrl()), account);
  }

  @Test
  void theTaintIsRemovedWhenKubeletKnowsTheDriver() throws InterruptedException {
    Node node =
        node(taint("other", "NoSchedule"), taint(KEY, "NoExecute"), taint(KEY, "NoSchedule"));
    CSINode csiNode = csiNode(node);

    try (TaintRemoval _ = TaintRemoval.start(api, new DriverName(DRIVER), name(node))) {
      // longer than the first pause
      Thread.sleep(1_500);
      assertThat(taints(node)).as("not registered").hasSize(3);
      register(csiNode);

      await().untilAsserted(() -> assertThat(taints(node)).hasSize(1));
    }
    assertThat(taints(node)).extracting(Taint::getKey).containsExactly("other");
  }

  @Test
  void aMissingRightDelaysTheRemovalOnly() throws IOException {
    Node node = node(taint(KEY, "NoSchedule"));
    register(csiNode(node));
    String token = Files.readString(account.resolve("token"));
    Files.writeString(account.resolve("token"), "expired");

    try (TaintRemoval _ = TaintRemoval.start(api, new DriverName(DRIVER), name(node))) {
      assertThat(taints(node)).hasSize(1);
      Files.writeString(account.resolve("token"), token);

      await().untilAsserted(() -> assertThat(taints(node)).isEmpty());
    }
  }

  private static PolicyRule rule(String group, String resource, String... verbs) {
    return new PolicyRuleBuilder()
        .withApiGroups(group)
        .withResources(resource)
        .withVerbs(verbs)
        .build();
  }

  private static Taint taint(String key, String effect) {
    return new Taint(effect, key, null, null);
  }

  private Node node(Taint... taints) {
    return sandbox.create(
        new NodeBuilder()
            .withNewMetadata()
            .withName(sandbox.namespace())
            .endMetadata()
            .withNewSpec()
            .withTaints(taints)
            .endSpec()
            .build());
  }

  private CSINode csiNode(Node node) {
    return sandbox.create(
        new CSINodeBuilder()
            .withNewMetadata()
            .withName(name(node))
            .endMetadata()
            .withNewSpec()
            .addNewDriver()
            .withName("another.example.org")
            .withNodeID(name(node))
            .endDriver()
            .endSpec()
            .build());
  }

  private void register(CSINode csiNode) {
    sandbox
        .client()
        .storage()
        .v1()
        .csiNodes()
        .withName(name(csiNode))
        .edit(
            found ->
                new CSINodeBuilder(found)
                    .editSpec()
                    .addNewDriver()
                    .withName(DRIVER)
                    .withNodeID(name(found))
                    .endDriver()
                    .endSpec()
                    .build());
  }

  private List<Taint> taints(Node node) {
    return sandbox.client().nodes().withName(name(node)).get().getSpec().getTaints().stream()
        // the API server adds one of its own to a new node
        .filter(taint -> !taint.getKey().startsWith("node.kubernetes.io/"))
        .toList();
  }

  private static String name(HasMetadata object) {
    return object.getMetadata().getName();
  }
}
