package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The three sources of the controller's certificates, on a real API server. */
@WithKubernetes(controllers = false)
class CertificatesIT {

  private static final String NAME = "certs.example.com";
  private static final String H = "certs-example-com";

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox).start();
  }

  @AfterEach
  void deleteResource() {
    operator.stop();
    client.resources(PmemCSIDeployment.class).withName(NAME).delete();
    Leftovers.objects(client, sandbox.namespace(), H, NAME)
        .forEach(object -> client.resource(object).delete());
  }

  @Test
  void operatorIssuesCertificatesOnceAndThenRests() {
    create("controllerTLS: {managed: true}");

    awaitPhase("Initializing");
    assertThat(secret(H + "-controller-secret").getData()).containsKeys("ca.crt", "tls.crt");
    assertThat(caBundle()).isEqualTo(secret(H + "-controller-secret").getData().get("ca.crt"));
    assertThat(condition("CertsVerified")).isEqualTo("True");
    assertThat(condition("CertsReady")).isEqualTo("True");
    assertThat(status().certificateExpires()).isNotNull();
    assertThat(status().component("Controller")).isPresent();

    await()
        .until(
            () -> {
              int before = operator.writes().size();
              Thread.sleep(1000);
              return operator.writes().size() == before;
            });
    // where a node is left to run the controller, the status goes on to Running with its event
    assertThat(operator.writes())
        .filteredOn(write -> write.startsWith("PATCH"))
        .doesNotHaveDuplicates();
  }

  @Test
  void missingSecretFailsUntilItComesAndItsChangesAreNoticed() {
    create("controllerTLSSecret: mine");
    awaitPhase("Failed");
    assertThat(status().reason()).contains("controllerTLSSecret: there is no secret \"mine\"");

    var first = new Certificates("first");
    client.resource(tlsSecret(first)).create();

    awaitPhase("Initializing");
    assertThat(decoded(caBundle())).isEqualTo(first.authorityPem());
    // this certificate was made for other names: that is said, but it is the user's business
    assertThat(condition("CertsVerified")).isEqualTo("False");

    var second = new Certificates("second");
    client.resource(tlsSecret(second)).update();

    await().untilAsserted(() -> assertThat(decoded(caBundle())).isEqualTo(second.authorityPem()));
  }

  @Test
  void brokenInlineCertificatesAreRefusedAndNothingIsMade() {
    var one = new Certificates("one");
    var other = new Certificates("other").issue("CN=x");

    create(
        "caCert: %s, registryCert: %s, registryKey: %s"
            .formatted(
                encoded(one.authorityPem()),
                encoded(other.certificatePem()),
                encoded(other.keyPem())));

    awaitPhase("Failed");
    assertThat(status().reason()).contains("not signed by the given CA");
    assertThat(condition("CertsVerified")).isEqualTo("False");
    assertThat(Leftovers.of(client, sandbox.namespace(), H, NAME)).isEmpty();
  }

  private void create(String spec) {
    var resource =
        (PmemCSIDeployment)
            new Rendering()
                .read(
                    """
                    apiVersion: pmem-csi.intel.com/v1beta1
                    kind: PmemCSIDeployment
                    metadata: {name: any}
                    spec: {%s}
                    """
                        .formatted(spec));
    resource.setMetadata(new ObjectMetaBuilder().withName(NAME).build());
    client.resource(resource).create();
  }

  private Secret tlsSecret(Certificates authority) {
    var issued = authority.issue("CN=controller");
    return new SecretBuilder()
        .withNewMetadata()
        .withName("mine")
        .withNamespace(sandbox.namespace())
        .endMetadata()
        .withType("kubernetes.io/tls")
        .withData(
            Map.of(
                "ca.crt", encoded(authority.authorityPem()),
                "tls.crt", encoded(issued.certificatePem()),
                "tls.key", encoded(issued.keyPem())))
        .build();
  }

  private Secret secret(String name) {
    return client.secrets().inNamespace(sandbox.namespace()).withName(name).get();
  }

  private String caBundle() {
    return client
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName(H + "-hook")
        .get()
        .getWebhooks()
        .getFirst()
        .getClientConfig()
        .getCaBundle();
  }

  private void awaitPhase(String phase) {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(status().phaseOrNew()).isEqualTo(phase));
  }

  private String condition(String type) {
    return status().condition(type).map(DeploymentCondition::status).orElse("none");
  }

  private PmemCSIDeploymentStatus status() {
    return client.resources(PmemCSIDeployment.class).withName(NAME).get().getStatus();
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}
