package io.pmemcsi.controller.https;

import io.pmemcsi.testbed.kubernetes.Certificates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A server certificate in files, as a mounted secret has it, and clients that trust it. */
public final class TestCertificate {

  private final Certificates authority = new Certificates("controller-test");
  private final Path directory;

  public TestCertificate(Path directory) {
    this.directory = directory;
    replace();
  }

  /** Writes another certificate of the same authority into the files. */
  public String replace() {
    var issued = authority.issue("CN=controller", "pmem-csi-intel-com-scheduler.pmem-csi.svc");
    write("tls.crt", issued.certificatePem());
    write("tls.key", issued.keyPem());
    return issued.certificate().getSerialNumber().toString();
  }

  public void write(String name, String content) {
    try {
      Files.writeString(directory.resolve(name), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String authorityPem() {
    return authority.authorityPem();
  }

  public ControllerServer.TlsFiles files() {
    return new ControllerServer.TlsFiles(
        directory.resolve("tls.crt"), directory.resolve("tls.key"), Duration.ofMillis(50));
  }

  /** For clients that trust the authority. */
  public SSLContext client() {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("ca", authority.authority());
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
