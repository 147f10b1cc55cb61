package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PmemCertificatesTest {

  private static final Duration ONE = Duration.ofDays(1);
  private static final String[] NAMES = {
    "early-example-com-scheduler.pmem.svc", "early-example-com-webhook.pmem.svc"
  };

  private final Instant today = Instant.now().truncatedTo(ChronoUnit.SECONDS);
  private final Certificates tomorrow =
      new Certificates("early", today.plus(ONE), today.plus(ONE.multipliedBy(2)));
  private Certificates.Issued server = tomorrow.issue("CN=controller", NAMES);

  @Test
  void secretThatIsNotValidYetIsCheckedAgainWhenItIs() {
    assertWaits("controllerTLSSecret: mine");
  }

  @Test
  void inlineCertificatesThatAreNotValidYetAreCheckedAgainWhenTheyAre() {
    assertWaits(
        "caCert: %s, registryCert: %s, registryKey: %s"
            .formatted(
                encoded(tomorrow.authorityPem()),
                encoded(server.certificatePem()),
                encoded(server.keyPem())));
  }

  @Test
  void expiredSecretIsNotCheckedAgain() {
    var late = prepared("controllerTLSSecret: mine", today.plus(ONE.multipliedBy(100_000)));

    assertThat(late.failure()).get().asString().contains("expired on");
    assertThat(late.due()).isEmpty();
  }

  @Test
  void managedAuthorityThatIsNotValidYetIsReportedAndKept() {
    String spec = "controllerTLS: {managed: true}";
    var issued = prepared(spec, today, _ -> Optional.empty());
    Map<String, Secret> stored =
        issued.secrets().stream()
            .collect(Collectors.toMap(one -> one.getMetadata().getName(), one -> (Secret) one));

    var early = prepared(spec, today.minus(ONE), name -> Optional.ofNullable(stored.get(name)));

    assertThat(early.failure()).isEmpty();
    assertThat(early.certificates().flatMap(ControllerCertificates::webhookService))
        .as("a service by whose name the certificate is valid now")
        .isEmpty();
    assertThat(early.secrets()).isEqualTo(issued.secrets());
    assertThat(early.conditions())
        .filteredOn(condition -> condition.type().equals("CertsVerified"))
        .singleElement()
        .satisfies(
            condition -> {
              assertThat(condition.status()).isEqualTo("False");
              assertThat(condition.message())
                  .contains("is not valid before")
                  .contains("set the clock of the operator's node right");
            });
    assertThat(early.due()).hasValueSatisfying(due -> assertThat(due).isBefore(today));
  }

  @Test
  void theWebhookIsCalledThroughAServiceForWhichTheCertificateIsValid() {
    assertThat(webhookService(NAMES)).contains("early-example-com-webhook");
    assertThat(webhookService(NAMES[0])).contains("early-example-com-scheduler");
    assertThat(webhookService(NAMES[1])).contains("early-example-com-webhook");
    assertThat(webhookService("127.0.0.1")).isEmpty();
  }

  @Test
  void aSecretForTheServiceOfTheSchedulerIsVerified() {
    assertThat(verified(NAMES[0])).isEqualTo("True");
    assertThat(verified(NAMES[1])).isEqualTo("False");
  }

  private Optional<String> webhookService(String... names) {
    return preparedFor(names).certificates().flatMap(ControllerCertificates::webhookService);
  }

  private String verified(String... names) {
    return preparedFor(names).conditions().stream()
        .filter(condition -> condition.type().equals("CertsVerified"))
        .findFirst()
        .orElseThrow()
        .status();
  }

  private PmemCertificates.Prepared preparedFor(String... names) {
    server = tomorrow.issue("CN=controller", names);
    return prepared("controllerTLSSecret: mine", today.plus(ONE));
  }

  private void assertWaits(String spec) {
    var early = prepared(spec, today);

    assertThat(early.failure()).get().asString().contains("not valid before");
    Instant due = early.due().orElseThrow();
    assertThat(due).isEqualTo(today.plus(ONE));
    assertThat(prepared(spec, due).failure()).isEmpty();
  }

  private PmemCertificates.Prepared prepared(String spec, Instant now) {
    return prepared(spec, now, _ -> Optional.empty());
  }

  private PmemCertificates.Prepared prepared(
      String spec, Instant now, Function<String, Optional<Secret>> own) {
    var resource =
        new KubernetesSerialization()
            .unmarshal(
                "metadata: {name: early.example.com}\nspec: {%s}".formatted(spec),
                PmemCSIDeployment.class);
    var facts = ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image");
    PmemSettings settings = PmemSettings.of(resource);
    var driver =
        new PmemModel(
            new PmemNames(settings.driver()),
            settings,
            new PmemModel.Sizing(
                Optional.empty(),
                settings.maxUnavailable(),
                settings.controllerDriverResources(),
                settings.nodeDriverResources(),
                settings.provisionerResources(),
                settings.nodeRegistrarResources()),
            facts);
    return new PmemCertificates(driver, settings.tls(), Optional.empty(), Optional.empty(), now)
        .prepare(name -> name.equals("mine") ? Optional.of(secret()) : own.apply(name));
  }

  private Secret secret() {
    return new SecretBuilder()
        .withData(
            Map.of(
                "ca.crt", encoded(tomorrow.authorityPem()),
                "tls.crt", encoded(server.certificatePem()),
                "tls.key", encoded(server.keyPem())))
        .build();
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
