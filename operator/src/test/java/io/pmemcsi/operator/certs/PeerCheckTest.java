package io.pmemcsi.operator.certs;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.Test;

class PeerCheckTest {

  private static final Instant NOW = Instant.parse("2024-05-01T12:00:00Z");
  private static final Duration VALIDITY = Duration.ofDays(10);

  private final Issuer issuer = new Issuer();
  private final Issuer.Issued authority = issuer.authority("one", NOW, Duration.ofDays(30));

  private TlsFiles files(Issuer.Issued signer, String name) {
    return files(issuer.server(signer, List.of(name), NOW, VALIDITY));
  }

  private TlsFiles files(Issuer.Issued issued) {
    return new TlsFiles(
        Pem.of(authority.certificate()), Pem.of(issued.certificate()), Pem.of(issued.key()));
  }

  private final TlsFiles registry = files(authority, "pmem-registry");
  private final TlsFiles node = files(authority, "pmem-node-controller");

  @Test
  void matchingCertificatesConnectInBothDirections() {
    var check = PeerCheck.of(registry, node, NOW);

    assertThat(check.broken()).isEmpty();
    assertThat(check.expires()).isEqualTo(NOW.plus(VALIDITY));
    assertThat(check.begins()).isEmpty();
  }

  /** The driver must accept them as well: {@code CentralCertificatesIT}. */
  @Test
  void ed25519KeysAreAccepted() throws Exception {
    var key = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    var issued = issuer.server(authority, List.of("pmem-registry"), NOW, VALIDITY, key);

    assertThat(PeerCheck.of(files(issued), node, NOW).broken()).isEmpty();
  }

  @Test
  void exchangedCertificatesAreReportedByName() {
    assertThat(PeerCheck.of(/* registry= */ node, /* nodeController= */ registry, NOW).broken())
        .hasSize(2)
        .anySatisfy(
            problem ->
                assertThat(problem)
                    .startsWith("registryCert: ")
                    .contains("for pmem-node-controller instead of pmem-registry"));
  }

  @Test
  void certificateOfAnotherAuthorityIsReportedWithItsFields() {
    var stranger = issuer.authority("two", NOW, Duration.ofDays(30));

    assertThat(PeerCheck.of(registry, files(stranger, "pmem-node-controller"), NOW).broken())
        .singleElement()
        .asString()
        .startsWith("caCert, nodeControllerCert, nodeControllerKey: ")
        .contains("not signed by the given CA");
  }

  @Test
  void keyOfAnotherCertificateIsReported() {
    var mixed = new TlsFiles(registry.authority(), registry.certificate(), node.key());

    assertThat(PeerCheck.of(mixed, node, NOW).broken())
        .singleElement()
        .asString()
        .contains("the key does not belong to the certificate")
        .doesNotContain("BEGIN");
  }

  @Test
  void certificateThatExpiresIsReported() {
    assertThat(PeerCheck.of(registry, node, NOW.plus(Duration.ofDays(11))).broken())
        .hasSize(2)
        .allSatisfy(problem -> assertThat(problem).contains("expired on"));
  }

  /** Only a connection shows this: the controller is a client of the nodes, too. */
  @Test
  void certificateThatIsNotForClientsIsFoundByTheHandshake() throws Exception {
    var key = issuer.newKey();
    var builder =
        new JcaX509v3CertificateBuilder(
            authority.certificate(),
            BigInteger.TWO,
            Date.from(NOW),
            Date.from(NOW.plus(VALIDITY)),
            new X500Principal("CN=pmem-registry"),
            key.getPublic());
    builder.addExtension(
        Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
    var serverOnly =
        new JcaX509CertificateConverter()
            .getCertificate(
                builder.build(
                    new JcaContentSignerBuilder("SHA256withECDSA").build(authority.key())));

    assertThat(
            PeerCheck.of(files(new Issuer.Issued(serverOnly, key.getPrivate())), node, NOW)
                .broken())
        .singleElement()
        .asString()
        .startsWith(
            "a client with registryCert cannot connect to a server with nodeControllerCert");
  }

  @Test
  void certificatesAreIssuedForTheKeysOfUsers() {
    var plan = new RenewalPlan(List.of("pmem-registry"), VALIDITY, Duration.ofDays(3));
    for (String key : List.of(registry.key(), rsaKey())) {
      var decision =
          plan.forKey("registryKey", TlsFiles.encode(key)).decide(Map.of(), Map.of(), NOW);
      var again =
          plan.forKey("registryKey", TlsFiles.encode(key))
              .decide(decision.authoritySecret(), decision.serverSecret(), NOW);

      TlsFiles served = TlsFiles.of("any", decision.serverSecret());
      assertThat(Pem.key("issued", served.key())).isEqualTo(Pem.key("given", key));
      assertThat(CertificateCheck.of(served, List.of("pmem-registry"), NOW).broken()).isEmpty();
      assertThat(again).isEqualTo(decision);

      var other = plan.decide(decision.authoritySecret(), decision.serverSecret(), NOW);
      assertThat(other.serverSecret()).isEqualTo(decision.serverSecret());
      var changed =
          plan.forKey("registryKey", TlsFiles.encode(node.key()))
              .decide(decision.authoritySecret(), decision.serverSecret(), NOW);
      assertThat(Pem.key("issued", TlsFiles.of("any", changed.serverSecret()).key()))
          .isEqualTo(Pem.key("given", node.key()));
    }
  }

  private static String rsaKey() {
    try {
      var generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      return Pem.of(generator.generateKeyPair().getPrivate());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
