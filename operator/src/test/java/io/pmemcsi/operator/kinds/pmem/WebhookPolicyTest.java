package io.pmemcsi.operator.kinds.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the webhook of a driver with {@code mutatePods: Always} may refuse pods. */
class WebhookPolicyTest {

  private static final String SCHEDULER = "a-example-com-scheduler.pmem.svc";

  private final ClusterFacts facts =
      ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image");
  private final PmemKind kind =
      new PmemKind("pmem", () -> facts, DriverUsage::none, Clock.systemUTC());
  private final Instant now = Instant.now();

  @Test
  void aReadyControllerWithAGoodCertificateMayRefusePods() {
    assertThat(policy(webhook(decide(true, Optional.empty(), now, SCHEDULER)))).isEqualTo("Fail");
  }

  @Test
  void aControllerThatWasNeverReadyMayNot() {
    assertThat(policy(webhook(decide(false, Optional.empty(), now, SCHEDULER))))
        .isEqualTo("Ignore");
  }

  @Test
  void aCertificateForNoNameByWhichTheWebhookIsCalledMayNot() {
    assertThat(policy(webhook(decide(true, Optional.empty(), now, "other.example.com"))))
        .isEqualTo("Ignore");
  }

  @Test
  void aCertificateThatExpiresTakesTheRightBack() {
    var strict = webhook(decide(true, Optional.empty(), now, SCHEDULER));

    Action action =
        decide(true, Optional.of(strict), now.plus(Duration.ofDays(100_000)), SCHEDULER);

    assertThat(action).isInstanceOf(Action.Block.class);
    HasMetadata relaxed = ((Action.Block) action).overwrite().orElseThrow();
    assertThat(policy((MutatingWebhookConfiguration) relaxed)).isEqualTo("Ignore");
    strict.getWebhooks().getFirst().setFailurePolicy("Ignore");
    assertThat(relaxed).as("everything else stays").isEqualTo(strict);
  }

  private Action decide(
      boolean answered,
      Optional<MutatingWebhookConfiguration> webhook,
      Instant at,
      String... names) {
    var resource =
        new KubernetesSerialization()
            .unmarshal(
                "metadata: {name: a.example.com, generation: 1}\n"
                    + "spec: {controllerTLSSecret: mine, mutatePods: Always}",
                PmemCSIDeployment.class);
    return kind.decide(
            resource,
            new PmemObservation(facts, Map.of("mine", secret(names)), answered, webhook, at))
        .action();
  }

  private static MutatingWebhookConfiguration webhook(Action action) {
    return ((Action.Apply) action)
        .desired().objects().stream()
            .filter(MutatingWebhookConfiguration.class::isInstance)
            .map(MutatingWebhookConfiguration.class::cast)
            .findFirst()
            .orElseThrow();
  }

  private static String policy(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().getFirst().getFailurePolicy();
  }

  private static Secret secret(String... names) {
    var authority = new Certificates("one");
    var issued = authority.issue("CN=controller", names);
    return new SecretBuilder()
        .withData(
            Map.of(
                "ca.crt", encoded(authority.authorityPem()),
                "tls.crt", encoded(issued.certificatePem()),
                "tls.key", encoded(issued.keyPem())))
        .build();
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
