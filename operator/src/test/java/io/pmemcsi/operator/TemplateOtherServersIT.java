package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Servers that differ from the one of the other tests: the CRD has no schema, so that the server
 * accepts every resource, and it has fields of newer Kubernetes versions. Uses the embedded API.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TemplateOtherServersIT {

  private static final String NAMESPACE = "drivers";
  private static final String GOOD = "good";

  private final EmbeddedKubernetes server = EmbeddedKubernetes.start("1.31");
  private final KubernetesClient client = client(server);
  private final TemplateResource good = new TemplateResource(client, NAMESPACE, GOOD);
  private OperatorProgram operator;

  @BeforeAll
  void start() {
    InstalledOperator.installCrds(client);
    acceptAnything();
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
    operator = start(Optional.empty());
    good.create().awaitSynced();
  }

  private OperatorProgram start(Optional<Path> config) {
    return OperatorProgram.start(
        client,
        new OperatorOptions(
            Optional.empty(), Optional.of("image:one"), Optional.empty(), false, config),
        Map.of("WATCH_NAMESPACE", NAMESPACE),
        Clock.systemUTC(),
        TemplateFaultsIT.QUICK);
  }

  @AfterAll
  void stop() {
    operator.close();
    client.close();
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "no container on the nodes"
            + "|{\"driverPerNodeTemplate\":{\"spec\":{\"containers\":[]}}}"
            + "|spec.driverPerNodeTemplate.spec.containers: must have at least 1 entries",
        "no container in the controller"
            + "|{\"driverControllerTemplate\":{\"spec\":{\"containers\":[]}}}"
            + "|spec.driverControllerTemplate.spec.containers: must have at least 1 entries",
        "relative socket path"
            + "|{\"driverSocket\":\"csi/csi.sock\"}"
            + "|driverSocket is not the absolute path of a file in a directory of its own: write it"
            + " like /run/csi/csi.sock",
        "two default classes"
            + "|{\"storageClassTemplates\":[{\"metadata\":{\"name\":\"bad-a\"},\"default\":true},"
            + "{\"metadata\":{\"name\":\"bad-b\"},\"default\":true}]}"
            + "|more than one storage class is the default: set default to true in one of"
            + " storageClassTemplates at most",
        "unknown strategy"
            + "|{\"nodeUpdateStrategy\":\"Sudden\"}"
            + "|spec.nodeUpdateStrategy: \"Sudden\": must be one of Draining, OnDelete, Rolling",
        "empty image"
            + "|{\"containerImages\":{\"attacherImage\":\"\"}}"
            + "|spec.containerImages.attacherImage: an image override is empty: name an image, or"
            + " leave the field out for the default"
      })
  void invalidInputIsReportedAndNothingIsCreatedOrChanged(
      String what, String spec, String message) {
    List<String> before = versions();
    var bad = new TemplateResource(client, NAMESPACE, "bad");

    client.resource(changed("bad", spec)).create();
    good.patch("{\"spec\":%s}".formatted(spec));

    bad.awaitSyncError(message);
    assertThat(bad.objectNames()).as(what).isEmpty();
    assertThat(bad.status().observedGeneration()).isNull();
    good.awaitSyncError(message);
    assertThat(versions()).as(what).isEqualTo(before);

    bad.delete();
    good.resource()
        .patch(
            PatchContext.of(PatchType.JSON),
            "[{\"op\":\"replace\",\"path\":\"/spec\",\"value\":%s}]".formatted(spec(GOOD)));
    good.awaitSynced();
    assertThat(versions()).as("after the correction").isEqualTo(before);
  }

  @Test
  void unknownConfigurationKeyFailsTheStartAndNothingIsChanged(@TempDir Path directory)
      throws IOException {
    List<String> before = versions();
    Path file = Files.writeString(directory.resolve("config.yaml"), "replicas: 3\n");

    assertThatThrownBy(() -> start(Optional.of(file)))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("replicas: is not a key");

    assertThat(versions()).isEqualTo(before);
  }

  /** The real server drops these fields, or they are immutable there. */
  @Test
  void fieldsThatOtherManagersAddToTheCSIDriverAreRemoved() {
    CSIDriver before = driverObject();

    client
        .resource(before)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"metadata": {"labels": {"mine": "kept"}}, "spec": {"requiresRepublish": true,
              "tokenRequests": [{"audience": "theirs"}], "seLinuxMount": true}}
            """);

    await().untilAsserted(() -> assertThat(driverObject().getSpec()).isEqualTo(before.getSpec()));
    assertThat(driverObject().getMetadata().getLabels()).containsEntry("mine", "kept");
    assertThat(driverObject().getMetadata().getUid()).isEqualTo(before.getMetadata().getUid());
  }

  private CSIDriver driverObject() {
    return client.storage().v1().csiDrivers().withName(GOOD + ".csi.example.com").get();
  }

  /** As in a CRD that a user wrote without a schema. */
  private void acceptAnything() {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName("csidriverdeployments.csidriver.storage.openshift.io")
        .edit(
            definition -> {
              definition
                  .getSpec()
                  .getVersions()
                  .forEach(
                      version ->
                          version
                              .getSchema()
                              .setOpenAPIV3Schema(
                                  new JSONSchemaPropsBuilder()
                                      .withType("object")
                                      .withXKubernetesPreserveUnknownFields(true)
                                      .build()));
              return definition;
            });
  }

  private CSIDriverDeployment changed(String name, String spec) {
    Map<String, Object> resource = read(TemplateResource.yaml(name));
    resource.put("metadata", Map.of("name", name, "namespace", NAMESPACE));
    Map<String, Object> fields = read(spec(name));
    fields.putAll(read(spec));
    resource.put("spec", fields);
    return client.getKubernetesSerialization().convertValue(resource, CSIDriverDeployment.class);
  }

  private String spec(String name) {
    return client
        .getKubernetesSerialization()
        .asJson(read(TemplateResource.yaml(name)).get("spec"));
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> read(String yaml) {
    return client.getKubernetesSerialization().unmarshal(yaml, Map.class);
  }

  private List<String> versions() {
    return good.objects().stream()
        .map(HasMetadata::getMetadata)
        .map(one -> one.getName() + one.getUid() + one.getResourceVersion())
        .toList();
  }

  private static KubernetesClient client(EmbeddedKubernetes server) {
    Config config =
        new ConfigBuilder(Config.empty()).withMasterUrl(server.url().toString()).build();
    return Clients.to(config).build();
  }
}
