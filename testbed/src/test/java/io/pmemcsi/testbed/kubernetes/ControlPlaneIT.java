package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

@WithKubernetes(controllers = false)
class ControlPlaneIT {

  private static final int MANY = 20;

  @Test
  void eachTestHasAnEmptyNamespaceOfItsOwn(Sandbox sandbox, KubernetesClient client) {
    client.resource(settings("colour", "red")).create();

    try (Sandbox other = sandbox.cluster().newSandbox("other")) {
      assertThat(other.namespace()).isNotEqualTo(sandbox.namespace());
      assertThat(other.client().configMaps().withName("settings").get()).isNull();
      assertThat(client.configMaps().withName("settings").get().getData())
          .containsEntry("colour", "red");
    }
  }

  @Test
  void oneControlPlaneServesAnyNumberOfSandboxes(Sandbox sandbox, KubernetesClient client) {
    Set<Long> servers = servers();
    assertThat(servers).isNotEmpty();
    String cluster = client.namespaces().withName("kube-system").get().getMetadata().getUid();
    Set<String> namespaces = new HashSet<>();

    for (int i = 0; i < MANY; i++) {
      try (Sandbox next = sandbox.cluster().newSandbox("next")) {
        assertThat(namespaces.add(next.namespace())).isTrue();
        assertThat(next.client().namespaces().withName("kube-system").get().getMetadata().getUid())
            .isEqualTo(cluster);
      }
    }

    assertThat(servers()).isEqualTo(servers);
  }

  private static Set<Long> servers() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/kube-apiserver"))
        .map(ProcessHandle::pid)
        .collect(Collectors.toSet());
  }

  @Test
  void aServiceAccountMayDoWhatItsRoleSaysAndNothingElse(Sandbox sandbox, KubernetesClient client) {
    client
        .resource(
            new ServiceAccountBuilder().withNewMetadata().withName("reader").endMetadata().build())
        .create();
    client
        .resource(
            new RoleBuilder()
                .withNewMetadata()
                .withName("reader")
                .endMetadata()
                .addNewRule()
                .withApiGroups("")
                .withResources("configmaps")
                .withVerbs("get", "list")
                .endRule()
                .build())
        .create();
    client
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName("reader")
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "Role", "reader")
                .addNewSubject("", "ServiceAccount", "reader", sandbox.namespace())
                .build())
        .create();
    client.resource(settings("colour", "red")).create();

    sandbox.awaitRight("reader", "get", "", "configmaps");
    KubernetesClient reader = sandbox.clientAs("reader");

    assertThat(reader.configMaps().withName("settings").get().getData())
        .containsEntry("colour", "red");
    assertThatThrownBy(() -> reader.configMaps().withName("settings").delete())
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403))
        .hasMessageContaining("cannot delete resource \"configmaps\"");
    assertThatThrownBy(() -> reader.nodes().list())
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
  }

  @Test
  void twoWritersOfOneFieldConflict(KubernetesClient client) {
    apply(client, "first", settings("colour", "red"));

    assertThatThrownBy(() -> apply(client, "second", settings("colour", "blue")))
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(409))
        .hasMessageContaining("conflict with \"first\"");
  }

  @Test
  void objectsOfASandboxAreDeletedWhenItIsClosed(Sandbox sandbox) {
    for (int round = 1; round <= 2; round++) {
      try (Sandbox own = sandbox.cluster().newSandbox("round")) {
        own.create(definition());
      }
      assertThat(
              sandbox
                  .client()
                  .apiextensions()
                  .v1()
                  .customResourceDefinitions()
                  .withName("gadgets.testbed.example.com")
                  .get())
          .isNull();
    }
  }

  @Test
  void programsFindTheClusterThroughAFileAndHaveAServiceAccountsRights(Sandbox sandbox) {
    Config config = Config.fromKubeconfig(sandbox.kubeconfigAs("default").toFile());

    try (KubernetesClient anonymous = Clients.to(config).build()) {
      assertThat(anonymous.getKubernetesVersion().getMinor()).isNotEmpty();
      assertThatThrownBy(() -> anonymous.configMaps().inNamespace(sandbox.namespace()).list())
          .hasMessageContaining("system:serviceaccount:%s:default".formatted(sandbox.namespace()));
    }
  }

  private static CustomResourceDefinition definition() {
    return new CustomResourceDefinitionBuilder()
        .withNewMetadata()
        .withName("gadgets.testbed.example.com")
        .endMetadata()
        .withNewSpec()
        .withGroup("testbed.example.com")
        .withScope("Namespaced")
        .withNewNames()
        .withKind("Gadget")
        .withPlural("gadgets")
        .withSingular("gadget")
        .endNames()
        .addNewVersion()
        .withName("v1")
        .withServed(true)
        .withStorage(true)
        .withNewSchema()
        .withNewOpenAPIV3Schema()
        .withType("object")
        .endOpenAPIV3Schema()
        .endSchema()
        .endVersion()
        .endSpec()
        .build();
  }

  private static void apply(KubernetesClient client, String writer, ConfigMap object) {
    client
        .resource(object)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(writer)
                .build());
  }

  private static ConfigMap settings(String key, String value) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName("settings")
        .endMetadata()
        .withData(Map.of(key, value))
        .build();
  }
}
