package io.pmemcsi.operator;

import static io.pmemcsi.operator.TlsSecrets.decoded;
import static io.pmemcsi.operator.TlsSecrets.encoded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.certs.TlsCall;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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
  private TestDriver driver;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.driver = new TestDriver(sandbox, NAME);
    this.operator = InstalledOperator.install(sandbox).start();
  }

  @AfterEach
  void stop() {
    operator.stop();
  }

  @Test
  void operatorIssuesCertificatesOnceAndThenWritesNothing() {
    driver.create("controllerTLS: {managed: true}");

    driver.awaitPhase("Initializing");
    assertThat(secret(H + "-controller-secret").getData()).containsKeys("ca.crt", "tls.crt");
    assertThat(caBundle()).isEqualTo(secret(H + "-controller-secret").getData().get("ca.crt"));
    assertThat(condition("CertsVerified")).isEqualTo("True");
    assertThat(condition("CertsReady")).isEqualTo("True");
    assertThat(driver.status().certificateExpires()).isNotNull();
    assertThat(driver.status().component("Controller")).isPresent();

    operator.awaitQuiet();
    // if a node can take the controller, the status continues to Running with its event
    assertThat(operator.writes())
        .filteredOn(write -> write.startsWith("PATCH"))
        .doesNotHaveDuplicates();

    // changed names are served at once, or when the operator starts
    changeNames("one.example.com");
    awaitServed("one.example.com");
    operator.stop();
    changeNames("two.example.com");
    operator.start();
    awaitServed("two.example.com");
    assertThat(notServed("one.example.com")).isPresent();

    // with a clock before the CA's validity the operator reports the problem and issues nothing
    operator.stop();
    Secret issued = secret(H + "-controller-secret");
    operator.withClock(Clock.offset(Clock.systemUTC(), Duration.ofDays(-1))).start();
    await().untilAsserted(() -> assertThat(condition("CertsVerified")).isEqualTo("False"));
    assertThat(driver.events()).contains("CertsNotVerified");
    driver.daemonSet().delete();
    await("reconciled again").until(() -> driver.daemonSet().get() != null);
    assertThat(secret(H + "-controller-secret").getData()).isEqualTo(issued.getData());
  }

  private void changeNames(String name) {
    driver.setSpec("controllerTLS: {managed: true, extraNames: [%s]}".formatted(name));
  }

  private void awaitServed(String name) {
    await().untilAsserted(() -> assertThat(notServed(name)).isEmpty());
  }

  private Optional<String> notServed(String name) {
    return TlsCall.failure(decoded(caBundle()), served(), name, Instant.now());
  }

  @Test
  void missingSecretFailsUntilItIsCreatedAndItsChangesAreObserved() {
    driver.create("controllerTLSSecret: mine");
    driver.awaitPhase("Failed");
    assertThat(driver.status().reason())
        .contains("controllerTLSSecret: there is no secret \"mine\"");

    var first = new Certificates("first");
    client.resource(TlsSecrets.of(sandbox.namespace(), "mine", first)).create();

    driver.awaitPhase("Initializing");
    assertThat(decoded(caBundle())).isEqualTo(first.authorityPem());
    // this certificate was issued for other names: the operator reports that but uses it
    assertThat(condition("CertsVerified")).isEqualTo("False");

    var second = new Certificates("second");
    client.resource(TlsSecrets.of(sandbox.namespace(), "mine", second)).update();

    // pods serve the previous certificate for a while
    await()
        .untilAsserted(
            () -> assertThat(authorities()).containsExactly(second.authority(), first.authority()));
  }

  /** Only time passes here: no event triggers the reconciliation. */
  @Test
  void secretIsUsedAsSoonAsItsCertificatesBecomeValid() {
    Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Instant valid = start.plusSeconds(3);
    var time = new AtomicReference<>(start);
    operator.stop();
    operator.withClock(new FakeClock(time::get)).start();
    var early = new Certificates("early", valid, valid.plus(Duration.ofDays(1)));
    client.resource(TlsSecrets.of(sandbox.namespace(), "mine", early)).create();
    driver.create("controllerTLSSecret: mine");
    driver.awaitPhase("Failed");
    assertThat(driver.status().reason()).contains("is not valid before " + valid);

    time.set(valid);

    driver.awaitPhase("Initializing");
  }

  @Test
  void invalidInlineCertificatesAreRejectedAndNothingIsCreated() {
    var one = new Certificates("one");
    Certificates.Issued good = one.issue("CN=controller", serverName(), webhookName());
    Certificates.Issued stranger = new Certificates("other").issue("CN=x");
    String authority = "caCert: %s, ".formatted(encoded(one.authorityPem()));
    Instant over = Instant.now().minus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);

    driver.create(authority + TlsSecrets.pair("registry", stranger));
    awaitRefused("not signed by the given CA");

    driver.setSpec(
        authority
            + TlsSecrets.pair(
                "registry", new Certificates.Issued(good.certificate(), stranger.key())));
    awaitRefused("the key does not belong to the certificate");

    driver.setSpec(TlsSecrets.inline(one, webhookName()));
    awaitRefused("the certificate is not for " + serverName());

    driver.setSpec(inline(new Certificates("old", over.minus(Duration.ofDays(1)), over)));
    awaitRefused("the CA certificate \"CN=old\" expired on " + over);
  }

  private void awaitRefused(String reason) {
    await(reason)
        .untilAsserted(
            () ->
                assertThat(driver.status().reason())
                    .startsWith("caCert, registryCert, registryKey: ")
                    .contains(reason));
    assertThat(driver.status().phase()).isEqualTo("Failed");
    assertThat(condition("CertsVerified")).isEqualTo("False");
    assertThat(driver.objectNames()).isEmpty();
  }

  /** As the documentation says to create it. */
  @Test
  void certificateForTheServiceOfTheSchedulerIsEnoughForTheWebhook() {
    driver.create(
        TlsSecrets.inline(new Certificates("one"), serverName()) + ", mutatePods: Always");

    driver.awaitPhase("Initializing");
    assertThat(condition("CertsVerified")).isEqualTo("True");
    assertThat(
            client
                .admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(H + "-hook")
                .get()
                .getWebhooks()
                .getFirst()
                .getClientConfig()
                .getService()
                .getName())
        .isEqualTo(H + "-scheduler");
  }

  @Test
  void certificatesOfOpenShiftAreRejectedElsewhere() {
    driver.create("controllerTLSSecret: -openshift-");

    driver.awaitPhase("Failed");
    assertThat(driver.status().reason())
        .contains("controllerTLSSecret: -openshift- needs OpenShift");
    assertThat(condition("CertsReady")).isEqualTo("False");
  }

  @Test
  void nodeCertificatesAreVerifiedToo() {
    var stranger = new Certificates("other").issue("CN=node");

    driver.create(
        inline(new Certificates("one")) + ", " + TlsSecrets.pair("nodeController", stranger));

    driver.awaitPhase("Failed");
    assertThat(driver.status().reason())
        .contains("nodeControllerCert")
        .contains("not signed by the given CA");
  }

  @Test
  void validInlineCertificatesAreStoredAndUsed() {
    var first = new Certificates("first");
    driver.create(inline(first));

    driver.awaitPhase("Initializing");
    assertThat(condition("CertsVerified")).isEqualTo("True");
    assertThat(condition("CertsReady")).isEqualTo("True");
    assertThat(served().authority()).isEqualTo(first.authorityPem());
    assertThat(decoded(caBundle())).isEqualTo(first.authorityPem());
    assertThat(TlsCall.failure(decoded(caBundle()), served(), serverName(), Instant.now()))
        .isEmpty();
    // render prints the same objects, the Secret included
    var facts =
        ClusterFacts.assumed(
            KubernetesVersion.parse(sandbox.version().toString()),
            sandbox.namespace(),
            InstalledOperator.IMAGE);
    List<HasMetadata> rendered = new Rendering().objects(driver.self().get(), facts);
    assertThat(rendered).extracting(HasMetadata::getKind).contains("Secret");
    assertThat(rendered)
        .allSatisfy(
            object ->
                assertThat(Containment.missing(object, client.resource(object).get())).isEmpty());

    var second = new Certificates("second");
    driver.setSpec(inline(second));

    // pods serve the previous certificate for a while
    await()
        .untilAsserted(
            () -> assertThat(authorities()).containsExactly(second.authority(), first.authority()));
    assertThat(served().authority()).isEqualTo(second.authorityPem());
  }

  private String inline(Certificates authority) {
    return TlsSecrets.inline(authority, serverName(), webhookName());
  }

  /** Conditions about certificates that were deleted or are no longer referenced are removed. */
  @Test
  void conditionsFollowTheTlsMaterial() {
    driver.create("controllerTLSSecret: mine");
    driver.awaitPhase("Failed");
    assertThat(conditions()).isEqualTo("False False");

    var authority = new Certificates("mine");
    var server = authority.issue("CN=controller", serverName(), webhookName());
    Secret secret = TlsSecrets.of(sandbox.namespace(), "mine", authority);
    secret.getData().put("tls.crt", encoded(server.certificatePem()));
    secret.getData().put("tls.key", encoded(server.keyPem()));
    client.resource(secret).create();
    awaitConditions("True True");

    client.resource(secret).delete();
    awaitConditions("False False");

    driver.setSpec("");
    awaitConditions("none none");
  }

  private void awaitConditions(String verifiedAndReady) {
    await().untilAsserted(() -> assertThat(conditions()).isEqualTo(verifiedAndReady));
  }

  private String conditions() {
    return condition("CertsVerified") + " " + condition("CertsReady");
  }

  private String serverName() {
    return H + "-scheduler." + sandbox.namespace() + ".svc";
  }

  private String webhookName() {
    return H + "-webhook." + sandbox.namespace() + ".svc";
  }

  /**
   * During each change, clients and servers may have the old or the new bundle. The API server
   * reaches the webhook after every single write, too.
   */
  @Test
  void clientsAndServersStayConnectedDuringCARotation() {
    driver.create("controllerTLS: {managed: true, validityDays: 4, renewBeforeDays: 2}");
    driver.awaitPhase("Initializing");
    var time = new AtomicReference<>(Instant.now());
    var calls = new AtomicInteger();
    var failures = new CopyOnWriteArrayList<String>();
    operator.beforeEachWrite(
        () -> {
          calls.incrementAndGet();
          TlsCall.failure(decoded(caBundle()), served(), webhookName(), time.get())
              .ifPresent(failures::add);
        });
    Instant start = Instant.now();
    TlsFiles before = served();
    var authorities = new HashSet<>(List.of(before.authority()));
    var servers = new HashSet<>(List.of(before.certificate()));

    for (double day : new double[] {2.1, 4.2, 6.3, 7.5, 9.6, 11.7, 13.8}) {
      Instant now = start.plusMillis((long) (day * Duration.ofDays(1).toMillis()));
      Instant expired = driver.status().certificateExpires();
      operator.stop();
      time.set(now);
      operator
          .withClock(Clock.offset(Clock.systemUTC(), Duration.between(Instant.now(), now)))
          .start();
      await("day " + day)
          .untilAsserted(() -> assertThat(driver.status().certificateExpires()).isAfter(expired));

      TlsFiles after = served();
      assertThat(decoded(caBundle())).isEqualTo(after.authority());
      assertTrusted("the old client and the new server", before, after, now);
      assertTrusted("the new client and the old server", after, before, now);
      before = after;
      authorities.add(after.authority());
      servers.add(after.certificate());
    }

    assertThat(authorities).as("bundles").hasSizeGreaterThan(2);
    assertThat(servers).as("server certificates").hasSizeGreaterThan(3);
    assertThat(failures).isEmpty();
    assertThat(calls).hasValueGreaterThan(14);
  }

  private void assertTrusted(String who, TlsFiles client, TlsFiles server, Instant now) {
    var files = new TlsFiles(client.authority(), server.certificate(), server.key());
    assertThat(TlsCall.failure(client.authority(), files, serverName(), now)).as(who).isEmpty();
  }

  private TlsFiles served() {
    return TlsFiles.of("served", secret(H + "-controller-secret").getData());
  }

  private Secret secret(String name) {
    return client.secrets().inNamespace(sandbox.namespace()).withName(name).get();
  }

  private List<X509Certificate> authorities() throws CertificateException {
    return CertificateFactory.getInstance("X.509")
        .generateCertificates(
            new ByteArrayInputStream(decoded(caBundle()).getBytes(StandardCharsets.US_ASCII)))
        .stream()
        .map(X509Certificate.class::cast)
        .toList();
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

  private String condition(String type) {
    return driver.status().condition(type).map(DeploymentCondition::status).orElse("none");
  }
}
