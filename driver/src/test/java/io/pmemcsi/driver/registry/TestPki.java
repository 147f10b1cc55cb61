package io.pmemcsi.driver.registry;

import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A certificate authority of a test, and the files that it issues. */
public final class TestPki {

  private final Path directory;
  private final Certificates authority;

  public TestPki(Path directory) {
    this(directory, new Certificates("test CA"));
  }

  private TestPki(Path directory, Certificates authority) {
    this.directory = directory;
    this.authority = authority;
    try {
      Files.createDirectories(directory);
      Files.writeString(ca(), authority.authorityPem());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Another authority. */
  public TestPki other(String name) {
    return new TestPki(directory.resolve(name), new Certificates(name));
  }

  public Path ca() {
    return directory.resolve("ca.pem");
  }

  public Certificates authority() {
    return authority;
  }

  /** Valid files of one role. */
  public TlsFiles files(PeerRole role) {
    return files(role.certificateName(), issue(role.certificateName()));
  }

  public Certificates.Issued issue(String name) {
    return authority.issue("CN=" + name, name);
  }

  /** Writes a certificate with its key. */
  public TlsFiles files(String name, Certificates.Issued issued) {
    TlsFiles files =
        new TlsFiles(ca(), directory.resolve(name + ".pem"), directory.resolve(name + "-key.pem"));
    write(files, issued);
    return files;
  }

  public static void write(TlsFiles files, Certificates.Issued issued) {
    try {
      Files.writeString(files.certificate(), issued.certificatePem());
      Files.writeString(files.key(), issued.keyPem());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
