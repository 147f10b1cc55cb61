package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The condition that {@code kubectl wait} and GitOps tools read, on every kind. */
@WithKubernetes(perClass = true)
class ReadyConditionIT extends SharedOperator {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  /** A resource of each kind, a change that makes it invalid, and its reversal. */
  enum Kind {
    PMEM(
        "pmemcsideployments.v1beta1.pmem-csi.intel.com",
        """
        apiVersion: pmem-csi.intel.com/v1beta1
        kind: PmemCSIDeployment
        metadata: {name: ready-pmem.example.com}
        spec: {nodeSelector: {test/ready: "yes"}}
        """,
        "ready-pmem.example.com",
        "{\"spec\": {\"pullPolicy\": \"Always\", \"imagePullPolicy\": \"Never\"}}",
        "{\"spec\": {\"pullPolicy\": null, \"imagePullPolicy\": null}}",
        "Failed"),
    LEGACY(
        "deployments.v1alpha1.pmem-csi.intel.com",
        """
        apiVersion: pmem-csi.intel.com/v1alpha1
        kind: Deployment
        metadata: {name: ready-legacy}
        spec: {nodeSelector: {test/ready: "yes"}, driverName: ready-legacy.example.com}
        """,
        "ready-legacy.example.com",
        "{\"spec\": {\"pullPolicy\": \"Always\", \"imagePullPolicy\": \"Never\"}}",
        "{\"spec\": {\"pullPolicy\": null, \"imagePullPolicy\": null}}",
        "Failed"),
    TEMPLATE(
        "csidriverdeployments.csidriver.storage.openshift.io",
        TemplateResource.yaml("ready").replace("test/generic", "test/ready"),
        "ready.csi.example.com",
        "{\"spec\": {\"driverSocket\": \"/run/../csi.sock\"}}",
        "{\"spec\": {\"driverSocket\": \"/run/csi/csi.sock\"}}",
        "Invalid");

    private final String resource;
    private final String yaml;
    private final String driver;
    private final String invalid;
    private final String valid;
    private final String reason;

    Kind(String resource, String yaml, String driver, String invalid, String valid, String reason) {
      this.resource = resource;
      this.yaml = yaml;
      this.driver = driver;
      this.invalid = invalid;
      this.valid = valid;
      this.reason = reason;
    }
  }

  @TempDir private Path cache;
  private GenericKubernetesResource resource;

  @AfterEach
  void deleteResource() {
    if (resource != null) {
      client.resource(resource).delete();
      await().until(() -> client.resource(resource).get() == null);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void readyIsTrueExactlyWhileTheDriverCanBeUsed(Kind kind) {
    var kubectl = new Kubectl(sandbox.cluster(), Path.of(".."), cache);
    resource = YAML.unmarshal(kind.yaml, GenericKubernetesResource.class);
    resource.getMetadata().setNamespace(kind == Kind.TEMPLATE ? sandbox.namespace() : null);
    client.resource(resource).create();

    await().untilAsserted(() -> assertReady("False", 1, reasonOf(kind)));

    try (var _ =
        FakeNodes.create(sandbox.cluster(), 1, Map.of("test/ready", "yes"))
            .runPods()
            .registerDrivers()) {
      String[] wait = {
        "wait",
        "--for=condition=Ready",
        "--timeout=120s",
        "--namespace=" + sandbox.namespace(),
        kind.resource + "/" + resource.getMetadata().getName()
      };
      assertThat(kubectl.run(wait)).contains("condition met");
      JsonNode ready = ready();
      assertThat(ready.path("observedGeneration").asLong()).isEqualTo(1);
      assertThat(ready.path("lastTransitionTime").asText()).isNotEmpty();

      patch(kind.invalid);
      await().untilAsserted(() -> assertReady("False", 2, kind.reason));
      assertThat(ready().path("message").asText()).isNotEmpty();

      patch(kind.valid);
      await()
          .untilAsserted(() -> assertReady("True", 3, kind == Kind.TEMPLATE ? "Ready" : "Running"));

      PersistentVolume volume = sandbox.create(CsiVolumes.volume("ready", kind.driver));
      client.resource(resource).delete();
      // a deletion raises the generation, too
      await().untilAsserted(() -> assertReady("False", 4, "VolumesInUse"));
      client.resource(volume).delete();
    }
  }

  private static String reasonOf(Kind kind) {
    return kind == Kind.TEMPLATE ? "NotReady" : "Initializing";
  }

  private void assertReady(String status, long generation, String reason) {
    JsonNode ready = ready();
    assertThat(ready.path("status").asText()).as(ready.toString()).isEqualTo(status);
    assertThat(ready.path("observedGeneration").asLong()).isEqualTo(generation);
    assertThat(ready.path("reason").asText()).isEqualTo(reason);
  }

  private void patch(String json) {
    client.resource(resource).patch(PatchContext.of(PatchType.JSON_MERGE), json);
  }

  /** A missing node while there is none. */
  private JsonNode ready() {
    JsonNode now = YAML.convertValue(client.resource(resource).get(), JsonNode.class);
    for (JsonNode condition : now.at("/status/conditions")) {
      if (condition.path("type").asText().equals("Ready")) {
        return condition;
      }
    }
    return MissingNode.getInstance();
  }
}
