package io.pmemcsi.bench.driver;

import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Certificates and port of a central controller that is measured. */
final class CentralFiles {

  private final Path directory;
  private final int port;

  private CentralFiles(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  static CentralFiles create(Path directory) throws IOException {
    Certificates authority = new Certificates("bench CA");
    CentralFiles files = new CentralFiles(directory, freePort());
    Files.writeString(directory.resolve("ca.pem"), authority.authorityPem());
    for (PeerRole role : PeerRole.values()) {
      TlsFiles own = files.tls(role);
      Certificates.Issued issued =
          authority.issue("CN=" + role.certificateName(), role.certificateName());
      Files.writeString(own.certificate(), issued.certificatePem());
      Files.writeString(own.key(), issued.keyPem());
    }
    return files;
  }

  String registry() {
    return "tcp://127.0.0.1:" + port;
  }

  TlsFiles tls(PeerRole role) {
    return new TlsFiles(
        directory.resolve("ca.pem"),
        directory.resolve(role.certificateName() + ".pem"),
        directory.resolve(role.certificateName() + "-key.pem"));
  }

  List<String> controllerFlags() {
    return flags("-mode=controller", PeerRole.REGISTRY);
  }

  List<String> flags(String mode, PeerRole role) {
    TlsFiles tls = tls(role);
    return List.of(
        mode,
        "-deviceManager=file",
        "-registryEndpoint=" + registry(),
        "-controllerEndpoint=tcp://127.0.0.1:0",
        "-caFile=" + tls.ca(),
        "-certFile=" + tls.certificate(),
        "-keyFile=" + tls.key());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
