package io.pmemcsi.driver;

import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a TLS port accepts. OpenSSL asks, because a client in Java does not offer what is weak. */
final class TlsScan {

  private static final List<String> VERSIONS = List.of("-tls1", "-tls1_1", "-tls1_2", "-tls1_3");

  private TlsScan() {}

  /**
   * Starts a server that accepts all that OpenSSL has: what a scan does not find there, it cannot.
   */
  static Process startPermissive(TcpEndpoint endpoint, TlsFiles files) throws IOException {
    return new ProcessBuilder(
            "openssl",
            "s_server",
            "-www",
            "-accept",
            endpoint.host() + ":" + endpoint.port(),
            "-cert",
            files.certificate().toString(),
            "-key",
            files.key().toString(),
            "-min_protocol",
            "TLSv1",
            "-cipher",
            "ALL:@SECLEVEL=0")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  static List<String> acceptedVersions(TcpEndpoint endpoint) throws Exception {
    List<String> accepted = new ArrayList<>();
    for (String version : VERSIONS) {
      if (isAccepted(endpoint, version, "-cipher", "ALL:@SECLEVEL=0")) {
        accepted.add(version);
      }
    }
    return accepted;
  }

  /** The accepted suites of TLS 1.2; all suites of TLS 1.3 are good. */
  static List<String> acceptedSuites(TcpEndpoint endpoint) throws Exception {
    List<String> accepted = new ArrayList<>();
    for (String suite :
        openssl("ciphers", "-tls1_2", "ALL:COMPLEMENTOFALL:@SECLEVEL=0").strip().split(":", -1)) {
      if (isAccepted(endpoint, "-tls1_2", "-cipher", suite + ":@SECLEVEL=0")) {
        accepted.add(suite);
      }
    }
    return accepted;
  }

  /** A server that sends its certificate has agreed to version and suite. */
  private static boolean isAccepted(TcpEndpoint endpoint, String... options) throws Exception {
    List<String> command = new ArrayList<>(List.of("s_client", "-connect"));
    command.add(endpoint.host() + ":" + endpoint.port());
    command.addAll(List.of(options));
    return openssl(command.toArray(String[]::new)).contains("-----BEGIN CERTIFICATE-----");
  }

  /** Runs OpenSSL, which may fail: the server refuses a client without a certificate. */
  static String openssl(String... arguments) throws Exception {
    return openssl(Path.of("."), arguments);
  }

  static String openssl(Path directory, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }
}
