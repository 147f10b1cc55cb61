package io.pmemcsi.operator;

import static io.pmemcsi.operator.TlsSecrets.decoded;
import static io.pmemcsi.operator.TlsSecrets.encoded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.certs.TlsCall;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
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

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox).start();
  }

  @AfterEach
  void deleteResource() {
    operator.stop();
    Leftovers.remove(client, sandbox.namespace(), H, NAME);
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

    // other names are served as soon as they are wanted, or as there is somebody to see to it
    changeNames("one.example.com");
    awaitServed("one.example.com");
    operator.stop();
    changeNames("two.example.com");
    operator.start();
    awaitServed("two.example.com");
    assertThat(notServed("one.example.com")).isPresent();
  }

  private void changeNames(String name) {
    Edits.edit(
        self(),
        resource -> {
          resource.setSpec(
              resource("controllerTLS: {managed: true, extraNames: [%s]}".formatted(name))
                  .getSpec());
          return resource;
        });
  }

  private void awaitServed(String name) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(notServed(name)).isEmpty());
  }

  private Optional<String> notServed(String name) {
    return TlsCall.failure(decoded(caBundle()), served(), name, Instant.now());
  }

  @Test
  void missingSecretFailsUntilItComesAndItsChangesAreNoticed() {
    create("controllerTLSSecret: mine");
    awaitPhase("Failed");
    assertThat(status().reason()).contains("controllerTLSSecret: there is no secret \"mine\"");

    var first = new Certificates("first");
    client.resource(TlsSecrets.of(sandbox.namespace(), "mine", first)).create();

    awaitPhase("Initializing");
    assertThat(decoded(caBundle())).isEqualTo(first.authorityPem());
    // this certificate was made for other names: that is said, but it is the user's business
    assertThat(condition("CertsVerified")).isEqualTo("False");

    var second = new Certificates("second");
    client.resource(TlsSecrets.of(sandbox.namespace(), "mine", second)).update();

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

  @Test
  void certificatesOfOpenShiftAreRefusedElsewhere() {
    create("controllerTLSSecret: -openshift-");

    awaitPhase("Failed");
    assertThat(status().reason()).contains("controllerTLSSecret: -openshift- needs OpenShift");
    assertThat(condition("CertsReady")).isEqualTo("False");
  }

  @Test
  void nodeCertificatesAreVerifiedToo() {
    var authority = new Certificates("one");
    var server =
        authority.issue(
            "CN=controller",
            H + "-scheduler." + sandbox.namespace() + ".svc",
            H + "-webhook." + sandbox.namespace() + ".svc");
    var stranger = new Certificates("other").issue("CN=node");

    create(
        "caCert: %s, registryCert: %s, registryKey: %s, nodeControllerCert: %s, nodeControllerKey: %s"
            .formatted(
                encoded(authority.authorityPem()),
                encoded(server.certificatePem()),
                encoded(server.keyPem()),
                encoded(stranger.certificatePem()),
                encoded(stranger.keyPem())));

    awaitPhase("Failed");
    assertThat(status().reason())
        .contains("nodeControllerCert")
        .contains("not signed by the given CA");
  }

  @Test
  void goodInlineCertificatesAreStoredAndUsed() {
    var first = new Certificates("first");
    create(inline(first));

    awaitPhase("Initializing");
    assertThat(condition("CertsVerified")).isEqualTo("True");
    assertThat(condition("CertsReady")).isEqualTo("True");
    assertThat(served().authority()).isEqualTo(first.authorityPem());
    assertThat(decoded(caBundle())).isEqualTo(first.authorityPem());
    assertThat(TlsCall.failure(decoded(caBundle()), served(), serverName(), Instant.now()))
        .isEmpty();
    // render tells the same, secret included
    var facts =
        ClusterFacts.assumed(
            KubernetesVersion.parse(sandbox.version().toString()),
            sandbox.namespace(),
            InstalledOperator.IMAGE);
    List<HasMetadata> rendered = new Rendering().objects(self().get(), facts);
    assertThat(rendered).extracting(HasMetadata::getKind).contains("Secret");
    assertThat(rendered)
        .allSatisfy(
            object ->
                assertThat(Containment.missing(object, client.resource(object).get())).isEmpty());

    var second = new Certificates("second");
    String spec = inline(second);
    Edits.edit(
        self(),
        resource -> {
          resource.setSpec(resource(spec).getSpec());
          return resource;
        });

    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(decoded(caBundle())).isEqualTo(second.authorityPem()));
    assertThat(served().authority()).isEqualTo(second.authorityPem());
  }

  private String inline(Certificates authority) {
    var server =
        authority.issue(
            "CN=controller", serverName(), H + "-webhook." + sandbox.namespace() + ".svc");
    return "caCert: %s, registryCert: %s, registryKey: %s"
        .formatted(
            encoded(authority.authorityPem()),
            encoded(server.certificatePem()),
            encoded(server.keyPem()));
  }

  /**
   * Nothing stays that was said about certificates which are no longer there or no longer named.
   */
  @Test
  void conditionsFollowTheTlsMaterial() {
    create("controllerTLSSecret: mine");
    awaitPhase("Failed");
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

    Edits.edit(
        self(),
        resource -> {
          resource.setSpec(resource("").getSpec());
          return resource;
        });
    awaitConditions("none none");
  }

  private void awaitConditions(String verifiedAndReady) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(conditions()).isEqualTo(verifiedAndReady));
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
   * A client may know the bundle of before or of after each change, and so may a server. In each
   * state that is half written, too, the API server reaches the webhook.
   */
  @Test
  void renewalAndChangeOfTheAuthorityLeaveNobodyOut() {
    create("controllerTLS: {managed: true, validityDays: 4, renewBeforeDays: 2}");
    awaitPhase("Initializing");
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
      Instant expired = status().certificateExpires();
      operator.stop();
      time.set(now);
      operator
          .withClock(Clock.offset(Clock.systemUTC(), Duration.between(Instant.now(), now)))
          .start();
      await("day " + day)
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(status().certificateExpires()).isAfter(expired));

      TlsFiles after = served();
      assertThat(decoded(caBundle())).isEqualTo(after.authority());
      assertTrusted("a client of before and the server of after", before, after, now);
      assertTrusted("a client of after and the server of before", after, before, now);
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

  private void create(String spec) {
    client.resource(resource(spec)).create();
  }

  private Resource<PmemCSIDeployment> self() {
    return client.resources(PmemCSIDeployment.class).withName(NAME);
  }

  private static PmemCSIDeployment resource(String spec) {
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
    return resource;
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
}
