package io.pmemcsi.operator.kinds.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import io.pmemcsi.operator.pmemdriver.PmemPlan;
import io.pmemcsi.operator.pmemdriver.RunningDriver;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the webhook of a driver with {@code mutatePods: Always} may refuse pods. */
class WebhookPolicyTest {

  private static final String SCHEDULER = "a-example-com-scheduler.pmem.svc";
  private static final String WEBHOOK = "a-example-com-webhook.pmem.svc";
  private static final String IGNORED_UNTIL = "pmem-csi.intel.com/ignored-until";

  private final ClusterFacts facts =
      ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image");
  private final PmemKind kind =
      new PmemKind("pmem", () -> facts, DriverUsage::none, Clock.systemUTC());
  private final Instant now = Instant.now();

  /** When every certificate has expired. */
  private final Instant late = now.plus(Duration.ofDays(100_000));

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

    Action action = decide(true, Optional.of(strict), late, SCHEDULER);

    assertThat(action).isInstanceOf(Action.Block.class);
    HasMetadata relaxed = ((Action.Block) action).overwrite().orElseThrow();
    assertThat(policy((MutatingWebhookConfiguration) relaxed)).isEqualTo("Ignore");
    strict.getWebhooks().getFirst().setFailurePolicy("Ignore");
    strict.getMetadata().setAnnotations(Map.of(IGNORED_UNTIL, "repaired"));
    assertThat(relaxed).as("everything else stays").isEqualTo(strict);
  }

  /** Pods of the controller may still serve the certificate for the scheduler's service only. */
  @Test
  void aCertificateForMoreNamesKeepsTheServiceThroughWhichTheWebhookIsCalled() {
    var first = webhook(decide(true, Optional.empty(), now, SCHEDULER));

    var next = webhook(decide(true, Optional.of(first), now, SCHEDULER, WEBHOOK));

    assertThat(service(first)).isEqualTo("a-example-com-scheduler");
    assertThat(service(next)).isEqualTo("a-example-com-scheduler");
    assertThat(policy(next)).isEqualTo("Fail");
    assertThat(service(webhook(decide(true, Optional.empty(), now, SCHEDULER, WEBHOOK))))
        .isEqualTo("a-example-com-webhook");
  }

  @Test
  void aCertificateForAnotherServiceTakesTheRightBackForTenMinutes() {
    var first = webhook(decide(true, Optional.empty(), now, WEBHOOK));

    assertIgnoredForTenMinutes(first, SCHEDULER);
  }

  @Test
  void aCertificateThatReplacesOneForNoServiceGetsTheRightAfterTenMinutes() {
    var useless = webhook(decide(true, Optional.empty(), now, "other.example.com"));
    assertThat(useless.getMetadata().getAnnotations()).containsEntry(IGNORED_UNTIL, "repaired");

    assertIgnoredForTenMinutes(useless, SCHEDULER);
  }

  @Test
  void aCertificateThatReplacesAnExpiredOneGetsTheRightAfterTenMinutes() {
    var strict = webhook(decide(true, Optional.empty(), now, SCHEDULER));
    var relaxed = relaxed(decide(true, Optional.of(strict), late, SCHEDULER)).orElseThrow();

    assertIgnoredForTenMinutes(relaxed, SCHEDULER);
  }

  @Test
  void aCertificateThatExpiresDuringTheTenMinutesBeginsThemAgain() {
    var useless = webhook(decide(true, Optional.empty(), now, "other.example.com"));
    var during = webhook(decide(true, Optional.of(useless), now, SCHEDULER));

    var relaxed = relaxed(decide(true, Optional.of(during), late, SCHEDULER)).orElseThrow();

    assertThat(relaxed.getMetadata().getAnnotations()).containsEntry(IGNORED_UNTIL, "repaired");
    assertThat(relaxed(decide(true, Optional.of(relaxed), late, SCHEDULER)))
        .as("nothing is left to do")
        .isEmpty();
  }

  private void assertIgnoredForTenMinutes(MutatingWebhookConfiguration before, String name) {
    var during = webhook(decide(true, Optional.of(before), now, name));
    assertThat(policy(during)).isEqualTo("Ignore");
    Secret served = secret;
    var later = webhook(decide(true, Optional.of(during), now.plus(Duration.ofMinutes(9)), served));
    assertThat(later).isEqualTo(during);
    var after = webhook(decide(true, Optional.of(later), now.plus(Duration.ofMinutes(10)), served));
    assertThat(policy(after)).isEqualTo("Fail");
    assertThat(after.getMetadata().getAnnotations()).isNullOrEmpty();
  }

  @Test
  void anInvalidResourceKeepsTheRightUntilItsCertificateExpires() {
    var strict = webhook(decide(true, Optional.empty(), now, SCHEDULER));
    PmemCSIDeployment invalid = resource("mine");
    invalid.setSpec(
        new KubernetesSerialization()
            .unmarshal("spec: {deviceMode: tape}", PmemCSIDeployment.class)
            .getSpec());
    Instant expires = now.plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);
    invalid.setStatus(
        new PmemCSIDeploymentStatus(
            "Failed", null, 1L, List.of(), List.of(), List.of(), List.of(), expires, null));

    PmemPlan<PmemCSIDeployment> before = plan(invalid, strict, now);
    assertThat(relaxed(before.action())).isEmpty();
    assertThat(kind.requeueAfter(before, new RunningDriver(List.of(), List.of())))
        .contains(Duration.between(now, expires));

    PmemPlan<PmemCSIDeployment> after = plan(invalid, strict, expires);
    assertThat(((Action.Block) after.action()).problem().cause()).isEqualTo(Cause.INVALID);
    assertThat(relaxed(after.action()).map(WebhookPolicyTest::policy)).contains("Ignore");
  }

  private PmemPlan<PmemCSIDeployment> plan(
      PmemCSIDeployment resource, MutatingWebhookConfiguration webhook, Instant at) {
    return kind.decide(
        resource,
        new PmemObservation(
            new DriverObservation(facts, Map.of(), List.of(), Optional.empty(), at),
            true,
            Optional.of(webhook),
            LostVolumes.NONE));
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
                new DriverObservation(facts, Map.of("mine", mine), List.of(), Optional.empty(), at),
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

  private static Optional<MutatingWebhookConfiguration> relaxed(Action action) {
    return ((Action.Block) action).overwrite().map(MutatingWebhookConfiguration.class::cast);
  }

  private static String service(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().getFirst().getClientConfig().getService().getName();
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
