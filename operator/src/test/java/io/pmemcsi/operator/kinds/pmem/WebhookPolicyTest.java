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
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
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
  private Secret secret = new Secret();

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

  /** Pods serve the previous certificate until the kubelet has updated the mounted secret. */
  @Test
  void aReplacedAuthorityStaysTrustedForTenMinutes() {
    var first = webhook(decide(true, Optional.empty(), now, SCHEDULER));
    var during = webhook(decide(true, Optional.of(first), now, SCHEDULER));
    assertThat(policy(during)).isEqualTo("Fail");
    assertThat(authorities(during)).isEqualTo(2);

    var later = webhook(decide(true, Optional.of(during), now.plus(Duration.ofMinutes(9)), secret));
    assertThat(later).isEqualTo(during);
    var after = webhook(decide(true, Optional.of(later), now.plus(Duration.ofMinutes(10)), secret));
    assertThat(authorities(after)).isEqualTo(1);
    assertThat(after.getMetadata().getAnnotations()).isNullOrEmpty();
  }

  @Test
  void anAuthorityThatIsReplacedTwiceBeginsAnotherTransition() {
    var first = webhook(decide(true, Optional.empty(), now, SCHEDULER));
    var second = webhook(decide(true, Optional.of(first), now, SCHEDULER));
    var third =
        webhook(decide(true, Optional.of(second), now.plus(Duration.ofMinutes(9)), SCHEDULER));

    assertThat(authorities(third)).isEqualTo(3);
    assertThat(third.getMetadata().getAnnotations())
        .containsValue(now.plus(Duration.ofMinutes(19)).toString());
  }

  @Test
  void onOpenShiftAWebhookWithoutAuthorityMayNot() {
    var apis = EnumSet.of(ServedApi.OPENSHIFT_SECURITY);
    apis.addAll(facts.apis());
    var openshift = new ClusterFacts(facts.version(), "pmem", "example.com/image", apis);
    var resource = resource("-openshift-");

    var before = webhook(decide(resource, openshift, Optional.empty()));
    assertThat(policy(before)).isEqualTo("Ignore");
    before.getWebhooks().getFirst().getClientConfig().setCaBundle(encoded("injected"));
    assertThat(policy(webhook(decide(resource, openshift, Optional.of(before))))).isEqualTo("Fail");
  }

  private Action decide(
      PmemCSIDeployment resource,
      ClusterFacts cluster,
      Optional<MutatingWebhookConfiguration> webhook) {
    return new PmemKind("pmem", () -> cluster, DriverUsage::none, Clock.systemUTC())
        .decide(
            resource,
            new PmemObservation(
                new DriverObservation(cluster, Map.of(), List.of(), Optional.empty(), now),
                true,
                webhook,
                LostVolumes.NONE))
        .action();
  }

  private static PmemCSIDeployment resource(String secret) {
    return new KubernetesSerialization()
        .unmarshal(
            "metadata: {name: a.example.com, generation: 1}\n"
                + "spec: {controllerTLSSecret: %s, mutatePods: Always}".formatted(secret),
            PmemCSIDeployment.class);
  }

  private static int authorities(MutatingWebhookConfiguration webhook) {
    String bundle =
        new String(
            Base64.getDecoder()
                .decode(webhook.getWebhooks().getFirst().getClientConfig().getCaBundle()),
            StandardCharsets.US_ASCII);
    return bundle.split("BEGIN CERTIFICATE", -1).length - 1;
  }

  private Action decide(
      boolean answered,
      Optional<MutatingWebhookConfiguration> webhook,
      Instant at,
      String... names) {
    secret = secret(names);
    return decide(answered, webhook, at, secret);
  }

  private Action decide(
      boolean answered, Optional<MutatingWebhookConfiguration> webhook, Instant at, Secret mine) {
    var resource = resource("mine");
    return kind.decide(
            resource,
            new PmemObservation(
                new DriverObservation(
                    facts, Map.of("mine", mine), List.of(), Optional.empty(), at),
                answered,
                webhook,
                LostVolumes.NONE))
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
