package io.pmemcsi.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an operator does with its client, done against the embedded API. */
class Fabric8ClientTest {
  private static final String CRD =
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: widgets.example.com
      spec:
        group: example.com
        scope: Namespaced
        names: {kind: Widget, plural: widgets}
        versions:
        - name: v1
          served: true
          storage: true
          subresources: {status: {}}
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec:
                  type: object
                  properties:
                    size: {type: integer}
                status:
                  type: object
                  properties:
                    phase: {type: string}
      """;

  private EmbeddedKubernetes kubernetes;
  private KubernetesClient client;

  @BeforeEach
  void start() {
    kubernetes = EmbeddedKubernetes.start();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(kubernetes.url().toString())
            .withNamespace("default")
            .withRequestRetryBackoffLimit(0)
            .build();
    client = new KubernetesClientBuilder().withConfig(config).build();
  }

  @AfterEach
  void stop() {
    client.close();
    kubernetes.close();
  }

  private static ConfigMap configMap(String name, Map<String, String> data) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withData(data)
        .build();
  }

  @Test
  void anInformerSeesWhatIsThereAndWhatHappensLater() {
    client.resource(configMap("early", Map.of("a", "1"))).create();
    List<String> seen = new CopyOnWriteArrayList<>();
    try (SharedIndexInformer<ConfigMap> _ = client.configMaps().inform(recording(seen))) {
      client.resource(configMap("late", Map.of("b", "2"))).create();
      client.configMaps().withName("early").edit(map -> withData(map, "a", "changed"));
      client.configMaps().withName("late").delete();

      await()
          .untilAsserted(
              () ->
                  assertThat(seen)
                      .containsExactly("add early", "add late", "update early", "delete late"));
    }
  }

  private static ConfigMap withData(ConfigMap map, String key, String value) {
    return new ConfigMapBuilder(map).addToData(key, value).build();
  }

  private static ResourceEventHandler<ConfigMap> recording(List<String> seen) {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap map) {
        seen.add("add " + map.getMetadata().getName());
      }

      @Override
      public void onUpdate(ConfigMap before, ConfigMap after) {
        seen.add("update " + after.getMetadata().getName());
      }

      @Override
      public void onDelete(ConfigMap map, boolean unknown) {
        seen.add("delete " + map.getMetadata().getName());
      }
    };
  }

  @Test
  void anInformerSurvivesTheEndOfItsWatchAndOfTheHistory() {
    List<String> seen = new CopyOnWriteArrayList<>();
    try (SharedIndexInformer<ConfigMap> _ = client.configMaps().inform(recording(seen))) {
      await().until(() -> kubernetes.openWatches() == 1);

      kubernetes.faults().killWatches();
      kubernetes.faults().forgetHistory();
      client.resource(configMap("late", Map.of())).create();

      await().untilAsserted(() -> assertThat(seen).containsExactly("add late"));
    }
  }

  @Test
  void aCustomResourceGoesThroughItsLifeWithStatusAndFinalizer() {
    client.load(stream(CRD)).create();
    ResourceDefinitionContext widgets =
        new ResourceDefinitionContext.Builder()
            .withGroup("example.com")
            .withVersion("v1")
            .withKind("Widget")
            .withPlural("widgets")
            .withNamespaced(true)
            .build();
    GenericKubernetesResource widget =
        client
            .genericKubernetesResources(widgets)
            .load(
                stream(
                    """
                    apiVersion: example.com/v1
                    kind: Widget
                    metadata:
                      name: w
                      finalizers: [example.com/guard]
                    spec: {}
                    """))
            .create();

    assertThat(widget.getMetadata().getGeneration()).isEqualTo(1);

    widget.setAdditionalProperty("status", Map.of("phase", "Running"));
    GenericKubernetesResource running = client.resource(widget).patchStatus();

    assertThat(running.<String>get("status", "phase")).isEqualTo("Running");
    assertThat(running.getMetadata().getGeneration()).isEqualTo(1);

    client.resource(running).delete();
    GenericKubernetesResource ending = client.resource(running).get();

    assertThat(ending.getMetadata().getDeletionTimestamp()).isNotEmpty();

    ending.getMetadata().setFinalizers(List.of());
    client.resource(ending).update();

    assertThat(client.resource(running).get()).isNull();
  }

  @Test
  void anAppliedObjectKeepsWhatOthersOwnAndLosesWhatIsNoLongerApplied() {
    DaemonSet first = daemonSet(Map.of("a", "1", "b", "2"));
    client.resource(first).patch(apply("operator", false));
    client
        .apps()
        .daemonSets()
        .withName("node")
        .edit(
            set ->
                new DaemonSetBuilder(set)
                    .editMetadata()
                    .addToLabels("theirs", "x")
                    .endMetadata()
                    .build());

    DaemonSet second = client.resource(daemonSet(Map.of("a", "1"))).patch(apply("operator", false));

    assertThat(second.getMetadata().getLabels())
        .containsOnly(Map.entry("a", "1"), Map.entry("theirs", "x"));
    assertThat(second.getSpec().getTemplate().getSpec().getRestartPolicy()).isEqualTo("Always");
    assertThatThrownBy(
            () -> client.resource(daemonSet(Map.of("theirs", "mine"))).patch(apply("other", false)))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("Apply failed with 1 conflict")
        .hasMessageContaining(".metadata.labels.theirs");
    assertThat(
            client
                .resource(daemonSet(Map.of("theirs", "mine")))
                .patch(apply("other", true))
                .getMetadata()
                .getLabels())
        .containsEntry("theirs", "mine");
  }

  private static PatchContext apply(String manager, boolean force) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(manager)
        .withForce(force)
        .build();
  }

  private static DaemonSet daemonSet(Map<String, String> labels) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName("node")
        .withNamespace("default")
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .withNewSelector()
        .addToMatchLabels("app", "node")
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .addToLabels("app", "node")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("driver")
        .withImage("driver:1")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  @Test
  void dependentsOfAClusterScopedOwnerAreDeletedWithIt() {
    client.load(stream(CRD)).create();
    var owner =
        client
            .apiextensions()
            .v1()
            .customResourceDefinitions()
            .withName("widgets.example.com")
            .get();
    ConfigMap owned = configMap("owned", Map.of());
    owned
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("apiextensions.k8s.io/v1")
                    .withKind("CustomResourceDefinition")
                    .withName(owner.getMetadata().getName())
                    .withUid(owner.getMetadata().getUid())
                    .build()));
    client.resource(owned).create();

    client.resource(owner).delete();

    assertThat(client.configMaps().withName("owned").get()).isNull();
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }
}
