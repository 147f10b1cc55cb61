package io.pmemcsi.operator.certs;

import io.pmemcsi.base.tls.PeerNames;
import io.pmemcsi.base.tls.PeerRole;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Whether the central controller and the nodes accept each other's certificates.
 *
 * @param broken what makes connections fail, with the fields that have to change
 * @param expires when the first certificate expires, including the CA
 * @param begins when all of them become valid, if they are not valid yet
 */
public record PeerCheck(List<String> broken, Instant expires, Optional<Instant> begins) {

  private static final String REGISTRY_FIELDS = "caCert, registryCert, registryKey: ";
  private static final String NODE_FIELDS = "caCert, nodeControllerCert, nodeControllerKey: ";

  public PeerCheck {
    broken = List.copyOf(broken);
  }

  /**
   * Checks keys, validity, chains and names, then connects both sides in both directions.
   *
   * @throws BadCertificateException if a file cannot be read
   */
  public static PeerCheck of(TlsFiles registry, TlsFiles nodeController, Instant now) {
    var ofRegistry = check(REGISTRY_FIELDS, registry, now);
    var ofNodes = check(NODE_FIELDS, nodeController, now);
    var broken = new ArrayList<String>();
    broken.addAll(prefixed(REGISTRY_FIELDS, ofRegistry.broken()));
    broken.addAll(prefixed(NODE_FIELDS, ofNodes.broken()));
    name("registryCert", registry, PeerRole.REGISTRY).ifPresent(broken::add);
    name("nodeControllerCert", nodeController, PeerRole.NODE_CONTROLLER).ifPresent(broken::add);
    if (broken.isEmpty()) {
      handshake("registryCert", registry, "nodeControllerCert", nodeController, now)
          .ifPresent(broken::add);
      handshake("nodeControllerCert", nodeController, "registryCert", registry, now)
          .ifPresent(broken::add);
    }
    return new PeerCheck(
        broken,
        ofRegistry.expires().isBefore(ofNodes.expires()) ? ofRegistry.expires() : ofNodes.expires(),
        Stream.of(ofRegistry.begins(), ofNodes.begins())
            .flatMap(Optional::stream)
            .max(Instant::compareTo));
  }

  private static CertificateCheck check(String fields, TlsFiles files, Instant now) {
    try {
      return CertificateCheck.of(files, List.of(), now);
    } catch (BadCertificateException e) {
      throw new BadCertificateException(fields + e.getMessage(), e);
    }
  }

  private static List<String> prefixed(String fields, List<String> problems) {
    return problems.isEmpty() ? List.of() : List.of(fields + String.join("; ", problems));
  }

  /** Each side looks for the name of the other one, so that their certificates differ. */
  private static Optional<String> name(String field, TlsFiles files, PeerRole role) {
    X509Certificate leaf = Pem.certificates("the certificate", files.certificate()).getFirst();
    List<String> names = PeerNames.of(leaf);
    return names.contains(role.certificateName())
        ? Optional.empty()
        : Optional.of(
            "%s: the certificate is for %s instead of %s: issue one with that DNS name"
                .formatted(field, String.join(", ", names), role.certificateName()));
  }

  private static Optional<String> handshake(
      String clientField, TlsFiles client, String serverField, TlsFiles server, Instant now) {
    return MutualHandshake.problem(client, server, now)
        .map(
            problem ->
                "a client with %s cannot connect to a server with %s: %s"
                    .formatted(clientField, serverField, problem));
  }
}
