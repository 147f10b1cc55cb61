package io.pmemcsi.operator.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.testbed.kubernetes.Certificates;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;

class CertificateCheckTest {

  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
  private static final List<String> NAMES = List.of("a.ns.svc");

  private static final Duration ONE = Duration.ofDays(1);

  /** Certificates of the test's CA are issued for this time. */
  private final Instant today = Instant.now().truncatedTo(ChronoUnit.SECONDS);

  private final Issuer issuer = new Issuer();
  private final Issuer.Issued authority = issuer.authority("one", NOW, Duration.ofDays(9));
  private final Issuer.Issued server =
      issuer.server(authority, List.of("a.ns.svc", "*.wild.svc"), NOW, Duration.ofDays(3));

  @Test
  void validCertificateHasNoProblem() {
    var check = check(authority, server, NOW);

    assertThat(check.broken()).isEmpty();
    assertThat(check.missingNames()).isEmpty();
  }

  @Test
  void otherCAIsReported() {
    assertThat(check(issuer.authority("one", NOW, Duration.ofDays(9)), server, NOW).broken())
        .singleElement()
        .asString()
        .contains("not signed by the given CA");
  }

  @Test
  void wrongKeyIsReported() {
    var other = issuer.server(authority, NAMES, NOW, Duration.ofDays(3));

    assertThat(check(authority, new Issuer.Issued(server.certificate(), other.key()), NOW).broken())
        .containsExactly("the key does not belong to the certificate");
  }

  @Test
  void expiredCertificateIsReported() {
    assertThat(check(authority, server, NOW.plus(Duration.ofDays(4))).broken())
        .singleElement()
        .asString()
        .contains("expired on 2030-01-04");
    assertThat(check(authority, server, NOW.minus(Duration.ofDays(1))).broken())
        .singleElement()
        .asString()
        .contains("not valid before");
  }

  @Test
  void certificateThatIsNotYetValidReportsItsStart() {
    var early = check(authority, server, NOW.minus(ONE));

    Instant begins = early.begins().orElseThrow();
    assertThat(begins).isAfter(NOW.minus(ONE));
    assertThat(check(authority, server, begins).broken()).isEmpty();
    assertThat(check(authority, server, begins).begins()).isEmpty();
  }

  /** Java ignores the dates of a trust anchor; the API server does not. */
  @Test
  void expiredCAIsReported() {
    var brief = new Certificates("brief", today.minus(ONE), today.plus(ONE));

    assertExpiresTomorrow(
        files(brief.authorityPem(), brief.issue("CN=server", "a.ns.svc"), ""),
        "the CA certificate \"CN=brief\" expired on %s: replace it, and what it has signed");
  }

  @Test
  void expiredCAInTheBundleDoesNotMatterBesideTheNewOne() {
    var old = new Certificates("one", today.minus(ONE.multipliedBy(2)), today.minus(ONE));
    var renewed = old.renewed(today.minus(ONE), today.plus(ONE));
    TlsFiles files =
        files(old.authorityPem() + renewed.authorityPem(), old.issue("CN=server", "a.ns.svc"), "");

    var check = CertificateCheck.of(files, NAMES, today);

    assertThat(check.broken()).isEmpty();
    assertThat(check.expires()).isEqualTo(today.plus(ONE));
  }

  @Test
  void expiredIntermediateIsReported() {
    var root = new Certificates("root");
    var between = root.intermediate("between", today.minus(ONE), today.plus(ONE));

    assertExpiresTomorrow(
        files(root.authorityPem(), between.issue("CN=server", "a.ns.svc"), between.authorityPem()),
        "the intermediate certificate \"CN=between\" expired on %s: replace it");
  }

  private void assertExpiresTomorrow(TlsFiles files, String message) {
    var early = CertificateCheck.of(files, NAMES, today);
    var late = CertificateCheck.of(files, NAMES, today.plus(ONE.multipliedBy(2)));

    assertThat(early.broken()).isEmpty();
    assertThat(early.expires()).isEqualTo(today.plus(ONE));
    assertThat(late.broken()).containsExactly(message.formatted(today.plus(ONE)));
  }

  private static TlsFiles files(String authority, Certificates.Issued server, String between) {
    return new TlsFiles(authority, server.certificatePem() + between, server.keyPem());
  }

  @Test
  void namesAreComparedWithWildcards() {
    var check =
        CertificateCheck.of(
            files(authority, server), List.of("a.ns.svc", "b.wild.svc", "c.other.svc"), NOW);

    assertThat(check.missingNames()).containsExactly("c.other.svc");
  }

  @Test
  void unreadableFileIsNamed() {
    assertThatThrownBy(() -> CertificateCheck.of(new TlsFiles("x", "y", "z"), NAMES, NOW))
        .isInstanceOf(BadCertificateException.class)
        .hasMessageContaining("the CA certificate");
  }

  private static CertificateCheck check(
      Issuer.Issued authority, Issuer.Issued server, Instant now) {
    return CertificateCheck.of(files(authority, server), NAMES, now);
  }

  private static TlsFiles files(Issuer.Issued authority, Issuer.Issued server) {
    return new TlsFiles(
        Pem.of(authority.certificate()), Pem.of(server.certificate()), Pem.of(server.key()));
  }
}
