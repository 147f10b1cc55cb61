package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.diff.Preview;
import io.pmemcsi.operator.tools.diff.ResourceDiff;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a resource would change, on an in-process API after a real operator reconciled it. */
class PreviewTest {

  private static final String NAMESPACE = "pmem-csi";
  private static final String IMAGE = "image:one";
  private static final String NAME = "preview.example.com";

  /** With certificates that the operator has issued: they must not look like a change. */
  private static final String CONTROLLED = "deviceMode: direct, controllerTLS: {managed: true}";

  private EmbeddedKubernetes server;
  private KubernetesClient client;

  @BeforeEach
  void start() {
    server = EmbeddedKubernetes.start();
    client = Clients.to(Config.fromKubeconfig(server.kubeconfig())).build();
    InstalledOperator.installCrds(client);
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void newResourceIsAllCreated() {
    ResourceDiff diff = preview("deviceMode: lvm");

    assertThat(diff.isEmpty()).isFalse();
    assertThat(diff.describe())
        .startsWith("PmemCSIDeployment \"%s\": created\n@@ -0,0 +1,".formatted(NAME))
        .contains("DaemonSet \"preview-example-com-node\" in namespace \"pmem-csi\": created\n")
        .contains(" 0 changed, 0 deleted and created again, 0 deleted, 0 unchanged\n");
    assertThat(client.resources(PmemCSIDeployment.class).withName(NAME).get()).isNull();
  }

  @Test
  void deployedResourceHasNoDifferenceAndAChangedOneOnlyItsChange() {
    settle(CONTROLLED);

    assertThat(preview(CONTROLLED).describe())
        .matches("0 created, 0 changed, 0 deleted and created again, 0 deleted, \\d+ unchanged\n");

    String changed = preview(CONTROLLED + ", logLevel: 5").describe();
    assertThat(changed)
        .contains("+  logLevel: 5\n")
        .contains("DaemonSet \"preview-example-com-node\" in namespace \"pmem-csi\": changed\n")
        .contains("-        - \"-v=3\"\n+        - \"-v=5\"\n")
        .doesNotContain("BEGIN CERTIFICATE");

    String withoutController = preview("deviceMode: direct").describe();
    assertThat(withoutController)
        .contains(
            "Deployment \"preview-example-com-controller\" in namespace \"pmem-csi\": deleted")
        .contains("Secret \"preview-example-com-controller-secret\"")
        .doesNotContain("tls.key: \"L");
  }

  /** The webhook may reject pods only once the controller runs, which it does not here. */
  @Test
  void webhookThatIsNotServedYetIsNoDifference() {
    settle(CONTROLLED + ", mutatePods: Always");

    assertThat(preview(CONTROLLED + ", mutatePods: Always").describe())
        .matches("0 created, 0 changed, 0 deleted and created again, 0 deleted, \\d+ unchanged\n");
  }

  /** A webhook that cannot be called, because certificates are wrong, must not reject pods. */
  @Test
  void webhookIsShownThatIsRelaxedBecauseCertificatesAreWrong() {
    settle(CONTROLLED + ", mutatePods: Always");
    client
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName(NAME.replace('.', '-') + "-hook")
        .edit(
            found -> {
              found.getWebhooks().getFirst().setFailurePolicy("Fail");
              return found;
            });

    String wrong = "deviceMode: direct, controllerTLSSecret: missing, mutatePods: Always";
    assertThat(preview(wrong).describe())
        .contains("-  failurePolicy: \"Fail\"\n+  failurePolicy: \"Ignore\"\n")
        .contains("the operator would write nothing else: ")
        .contains("0 created, 2 changed,");
  }

  @Test
  void driverFromTemplatesIsComparedToo() {
    client.resource(fromTemplate("any:1")).create();
    try (var operator = operator()) {
      assertThat(operator.metricsPort()).isEmpty();
      await()
          .until(
              () ->
                  client
                      .resources(CSIDriverDeployment.class)
                      .inNamespace(NAMESPACE)
                      .withName("templates")
                      .get()
                      .getStatus()
                      .condition(DriverCondition.SYNC_SUCCESSFUL)
                      .filter(condition -> condition.status().equals("True"))
                      .isPresent());
    }

    assertThat(preview(fromTemplate("any:1")).describe())
        .matches("0 created, 0 changed, 0 deleted and created again, 0 deleted, \\d+ unchanged\n");
    assertThat(preview(fromTemplate("any:2")).describe())
        .contains("DaemonSet \"templates-node\" in namespace \"pmem-csi\": changed\n")
        .contains("-      - image: \"any:1\"\n+      - image: \"any:2\"\n")
        .contains("0 created, 2 changed, ");
  }

  /** Timestamps have whole seconds; within the same second the name decides. */
  @Test
  void existingResourceIsOlderThanOneNotAppliedYet() {
    client.resource(fromTemplate("any:1")).create();
    CSIDriverDeployment conflicting = fromTemplate("any:1");
    conflicting.getMetadata().setName("a-conflicting");

    assertThat(preview(conflicting).describe())
        .contains(
            "the operator would write nothing: CSIDriverDeployment \"templates\" in namespace"
                + " \"pmem-csi\", which is older, has the driver name");
  }

  @Test
  void nothingIsWritten() {
    settle("deviceMode: lvm");
    server.requests().clear();

    preview("deviceMode: direct");

    assertThat(server.requests().all()).hasSizeGreaterThan(10);
    assertThat(server.requests().writes()).isEmpty();
  }

  @Test
  void objectThatIsNotOwnedIsReported() {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("preview-example-com-node-setup")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .build())
        .create();

    assertThat(preview("deviceMode: lvm").describe())
        .contains(
            "ServiceAccount \"preview-example-com-node-setup\" in namespace \"pmem-csi\": exists,"
                + " but was not created for this resource");
  }

  private ResourceDiff preview(String spec) {
    return preview(PmemResource.of(NAME, spec));
  }

  private ResourceDiff preview(HasMetadata resource) {
    var facts = new ClusterProbe(client).facts(NAMESPACE, IMAGE);
    return new Preview(client, facts, OperatorConfig.DEFAULT, Clock.systemUTC()).of(resource);
  }

  private OperatorProgram operator() {
    return OperatorProgram.start(
        client,
        new OperatorOptions(
            Optional.empty(), Optional.of(IMAGE), Optional.empty(), false, Optional.empty()),
        Map.of("WATCH_NAMESPACE", NAMESPACE),
        Clock.systemUTC());
  }

  private static CSIDriverDeployment fromTemplate(String image) {
    return (CSIDriverDeployment)
        new Rendering()
            .read(
                """
                apiVersion: csidriver.storage.openshift.io/v1alpha1
                kind: CSIDriverDeployment
                metadata: {name: templates, namespace: %s}
                spec:
                  driverName: templates.example.com
                  driverSocket: /run/csi/csi.sock
                  nodeUpdateStrategy: Draining
                  storageClassTemplates: [{metadata: {name: from-template}}]
                  driverPerNodeTemplate:
                    spec:
                      containers:
                      - {name: driver, image: "%s", securityContext: {privileged: true}}
                """
                    .formatted(NAMESPACE, image));
  }

  private void settle(String spec) {
    client.resource(PmemResource.of(NAME, spec)).create();
    try (var operator = operator()) {
      assertThat(operator.metricsPort()).isEmpty();
      await()
          .until(
              () ->
                  "Initializing"
                      .equals(
                          client
                              .resources(PmemCSIDeployment.class)
                              .withName(NAME)
                              .get()
                              .getStatus()
                              .phaseOrNew()));
    }
  }
}
