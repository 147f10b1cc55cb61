package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.kinds.ResourceKind;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The CRDs and resources of all kinds on a real API server. */
@WithKubernetes(controllers = false, perClass = true)
class CustomResourcesIT {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Path DIRECTORY = Path.of("..", "deploy", "crd");

  @BeforeAll
  static void install(Sandbox sandbox) throws IOException {
    boolean cel = knowsCel(sandbox.cluster());
    var api = new RawApi(sandbox.client());
    for (var kind : ResourceKind.types()) {
      Path directory = cel ? DIRECTORY.resolve("with-cel") : DIRECTORY;
      String text = Files.readString(directory.resolve(CustomResourceDefinitions.fileName(kind)));
      RawApi.Answer answer = api.create(YAML.unmarshal(text, JsonNode.class), "");
      assertThat(answer.warnings()).as("warnings about the CRD").isEmpty();
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      sandbox.deleteAtEnd(CustomResourceDefinitions.of(kind));
    }
    Definitions.awaitServed(sandbox.client(), ResourceKind.definitions());
  }

  static boolean knowsCel(Cluster cluster) {
    return cluster.version().isAtLeast(1, 25);
  }

  @Test
  void theSchemasAreStructural(KubernetesClient client) {
    for (CustomResourceDefinition mine : ResourceKind.definitions()) {
      CustomResourceDefinition crd = client.resource(mine).get();

      assertThat(crd.getStatus().getConditions())
          .extracting(CustomResourceDefinitionCondition::getType)
          .containsExactlyInAnyOrder("NamesAccepted", "Established");
    }
  }

  @Test
  void theOtherVariantOfTheDefinitionsIsAcceptedAsWell(Sandbox sandbox) throws IOException {
    var api = new RawApi(sandbox.client());
    for (Path directory : List.of(DIRECTORY, DIRECTORY.resolve("with-cel"))) {
      for (var kind : ResourceKind.types()) {
        String text = Files.readString(directory.resolve(CustomResourceDefinitions.fileName(kind)));
        // another group, so that it is new to the server
        String other = text.replaceAll("(pmem-csi|csidriver)\\.(intel|storage)", "other.$1.$2");

        RawApi.Answer answer = api.create(YAML.unmarshal(other, JsonNode.class), "?dryRun=All");

        assertThat(answer.status()).as(answer.body()).isEqualTo(201);
        assertThat(answer.warnings()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("valid")
  void aGoodResourceIsAcceptedAndKeptAsItIs(Sample sample, Sandbox sandbox) {
    JsonNode written = sample.resource();
    var api = new RawApi(sandbox.client());
    assumeTrue(
        !sample.hasEmptyTexts() || takesEmptyTexts(api),
        "this API server was built with a newer Go than it was made for and takes \"\" for null");

    RawApi.Answer answer = api.create(written, "");

    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    assertThat(answer.warnings()).isEmpty();
    assertThat(answer.json().path("spec")).isEqualTo(written.path("spec"));
    api.delete(written);
  }

  private static boolean takesEmptyTexts(RawApi api) {
    JsonNode resource =
        YAML.unmarshal(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: probe}
            spec: {image: ""}
            """,
            JsonNode.class);
    return !api.create(resource, "?dryRun=All").body().contains("must be of type string: \\\"null");
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void aBadResourceIsRefusedWhereTheServerCan(Sample sample, Sandbox sandbox) {
    JsonNode written = sample.resource();
    var api = new RawApi(sandbox.client());
    List<String> expected =
        Stream.concat(
                sample.server().stream(),
                sample.rule().stream().filter(rule -> knowsCel(sandbox.cluster())))
            .toList();

    RawApi.Answer answer = api.create(written, "?dryRun=All");

    if (expected.isEmpty()) {
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    } else {
      assertThat(answer.status()).as(answer.body()).isEqualTo(422);
      assertThat(answer.json().path("message").asText()).contains(expected);
    }
  }

  @Test
  void theServerDropsNothingOfAnExoticTemplate(Sandbox sandbox) throws IOException {
    Path file = Path.of("src", "test", "resources", "round-trip", "exotic-templates.yaml");
    JsonNode written = YAML.unmarshal(Files.readString(file), JsonNode.class);

    RawApi.Answer answer = new RawApi(sandbox.client()).create(written, "");

    assertThat(answer.json().path("spec")).isEqualTo(written.path("spec"));
    CSIDriverDeployment typed =
        sandbox.client().resources(CSIDriverDeployment.class).withName("exotic").get();
    assertThat(YAML.convertValue(typed, JsonNode.class).path("spec"))
        .isEqualTo(written.path("spec"));
  }

  @Test
  void theStatusIsASubresourceAndShowsInTheColumns(Sandbox sandbox) {
    KubernetesClient client = sandbox.client();
    PmemCSIDeployment resource =
        YAML.unmarshal(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: columns.example.com}
            spec: {deviceMode: lvm, nodeSelector: {storage: pmem}, image: driver:1}
            status: {phase: Failed}
            """,
            PmemCSIDeployment.class);
    PmemCSIDeployment created = sandbox.create(resource);
    assertThat(created.getStatus()).isEqualTo(PmemCSIDeploymentStatus.NEW);

    created.setStatus(
        new PmemCSIDeploymentStatus(
            "Running",
            "All is well",
            1L,
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            null,
            Instant.now()));
    client.resource(created).updateStatus();

    JsonNode table = new RawApi(client).table(PmemCSIDeployment.class, "columns.example.com");
    assertThat(table.path("columnDefinitions").findValuesAsText("name"))
        .containsExactly("Name", "DeviceMode", "NodeSelector", "Image", "Status", "Age", "Reason");
    assertThat(table.at("/rows/0/cells"))
        .extracting(JsonNode::asText)
        .startsWith("columns.example.com", "lvm", "{\"storage\":\"pmem\"}", "driver:1", "Running");
  }

  @Test
  void conditionsShowInTheColumnsOfCsiDriverDeployments(Sandbox sandbox) {
    CSIDriverDeployment resource =
        YAML.unmarshal(
            """
            metadata: {name: columns}
            spec: {driverName: columns.example.com}
            """,
            CSIDriverDeployment.class);
    CSIDriverDeployment created = sandbox.create(resource);
    created.setStatus(
        new CSIDriverDeploymentStatus(
            1L,
            List.of(),
            "Managed",
            List.of(
                new DriverCondition("Available", "True", Instant.now(), "Ready", null, null),
                new DriverCondition(
                    "SyncSuccessful", "False", Instant.now(), "Invalid", "why", null),
                new DriverCondition("Ready", "Unknown", Instant.now(), "Held", "why", null)),
            null));
    sandbox.client().resource(created).updateStatus();

    JsonNode table = new RawApi(sandbox.client()).table(CSIDriverDeployment.class, "columns");

    assertThat(table.path("columnDefinitions").findValuesAsText("name"))
        .containsExactly("Name", "Driver", "State", "Available", "SyncSuccessful", "Ready", "Age");
    assertThat(table.at("/rows/0/cells"))
        .extracting(JsonNode::asText)
        .startsWith("columns", "columns.example.com", "Managed", "True", "False", "Unknown");
  }

  @Test
  void theShortNameIsServed(KubernetesClient client) {
    JsonNode group = new RawApi(client).get("/apis/pmem-csi.intel.com/v1beta1").json();

    assertThat(group.findPath("shortNames")).extracting(JsonNode::asText).containsExactly("pcd");
  }

  static Stream<Sample> valid() {
    return Sample.valid().stream();
  }

  static Stream<Sample> invalid() {
    return Sample.invalid().stream();
  }
}
