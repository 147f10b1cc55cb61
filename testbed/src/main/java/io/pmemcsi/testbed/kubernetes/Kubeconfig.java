package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Set;

/** Writes files with the address of the API server and the identity of the client. */
final class Kubeconfig {

  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rw-------");

  private Kubeconfig() {}

  /** For a client that shows a bearer token, as service accounts do. */
  static Path write(Path file, String server, String authorityPem, String token) {
    String text =
        """
        apiVersion: v1
        kind: Config
        clusters:
        - name: testbed
          cluster: {server: "%s", certificate-authority-data: %s}
        users:
        - name: user
          user: {token: "%s"}
        contexts:
        - name: testbed
          context: {cluster: testbed, user: user}
        current-context: testbed
        """
            .formatted(server, base64(authorityPem), token);
    try {
      Files.writeString(file, text);
      return Files.setPosixFilePermissions(file, PRIVATE);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  static void copy(Path from, Path to) {
    try {
      Files.setPosixFilePermissions(
          Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING), PRIVATE);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot copy %s to %s".formatted(from, to), e);
    }
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
