package io.pmemcsi.driver.registry.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.TestPki;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CredentialsTest {

  @TempDir Path directory;
  private TestPki pki;
  private TlsFiles files;

  @BeforeEach
  void issue() {
    pki = new TestPki(directory);
    files = pki.files(PeerRole.REGISTRY);
  }

  @Test
  void aChangedCertificateIsUsedByTheNextHandshake() {
    Credentials credentials = Credentials.open(files);
    Credentials.Generation first = credentials.latest();
    Certificates.Issued renewed = pki.issue("pmem-registry");

    TestPki.write(files, renewed);

    Credentials.Generation second = credentials.latest();
    assertThat(second.own().chain()).containsExactly(renewed.certificate());
    assertThat(credentials.byAlias(second.alias())).isSameAs(second);
    assertThat(credentials.byAlias(first.alias()))
        .as("a handshake in progress keeps its certificate")
        .isSameAs(first);
  }

  @Test
  void aKeyThatDoesNotMatchItsCertificateDoesNotReplaceValidCredentials() throws IOException {
    Credentials credentials = Credentials.open(files);
    Credentials.Generation first = credentials.latest();

    Files.writeString(files.key(), pki.issue("pmem-registry").keyPem());
    assertThat(credentials.latest()).isSameAs(first);

    Files.delete(files.ca());
    assertThat(credentials.latest()).isSameAs(first);
  }

  @Test
  void unchangedFilesAreNotReadAgain() {
    Credentials credentials = Credentials.open(files);

    assertThat(credentials.latest()).isSameAs(credentials.latest());
  }

  @Test
  void unusableFilesAtTheStartAreNamedWithTheirFlags() throws IOException {
    Files.writeString(files.key(), "no key");

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> Credentials.open(files))
        .withMessage(
            "%s has no private key in PEM format; correct -caFile, -certFile and -keyFile or the"
                + " secret behind them",
            files.key());
  }

  @Test
  void keysInTheFormatsOfOpensslAreRead() throws IOException {
    Certificates.Issued issued = pki.issue("pmem-registry");
    byte[] sec1 =
        PrivateKeyInfo.getInstance(issued.key().getPrivate().getEncoded())
            .parsePrivateKey()
            .toASN1Primitive()
            .getEncoded();
    TestPki.write(files, issued);
    Files.writeString(
        files.key(),
        "-----BEGIN EC PRIVATE KEY-----\n%s\n-----END EC PRIVATE KEY-----\n"
            .formatted(Base64.getMimeEncoder().encodeToString(sec1)));

    assertThat(Credentials.open(files).latest().own().key()).isEqualTo(issued.key().getPrivate());
  }
}
