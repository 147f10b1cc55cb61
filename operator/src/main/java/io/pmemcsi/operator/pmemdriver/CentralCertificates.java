package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.pmemdriver.PmemCondition.CERTS_READY;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.CERTS_VERIFIED;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.pmemcsi.api.legacy.Certificates;
import io.pmemcsi.api.legacy.Certificates.KeySource;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.operator.certs.BadCertificateException;
import io.pmemcsi.operator.certs.PeerCheck;
import io.pmemcsi.operator.certs.RenewalPlan;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.pmemdriver.PmemCertificates.Prepared;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * From the certificates in a resource to the secrets for the mutual TLS between the central
 * controller and the nodes.
 */
public record CentralCertificates(PmemModel driver, Certificates source, Instant now) {

  private static final Duration VALIDITY = Duration.ofDays(365);
  private static final Duration RENEW_BEFORE = Duration.ofDays(121);

  /** The secrets that are known without a cluster: those in the resource itself. */
  public List<HasMetadata> givenSecrets() {
    return source instanceof Certificates.Given given
        ? secrets(registry(given), nodeController(given))
        : List.of();
  }

  /**
   * Checks what the user gave, or issues and renews.
   *
   * @param stored finds an observed secret in the driver's namespace
   */
  public Prepared prepare(Function<String, Optional<Secret>> stored) {
    try {
      return switch (source) {
        case Certificates.Given given -> given(given);
        case Certificates.Issued issued -> issued(issued, stored);
      };
    } catch (BadCertificateException e) {
      return Prepared.notVerified(String.valueOf(e.getMessage()), Optional.empty());
    }
  }

  private Prepared given(Certificates.Given given) {
    TlsFiles registry = registry(given);
    TlsFiles nodeController = nodeController(given);
    var check = PeerCheck.of(registry, nodeController, now);
    return check.broken().isEmpty()
        ? prepared(secrets(registry, nodeController), check.expires(), check.expires())
        : Prepared.notVerified(String.join("; ", check.broken()), check.begins());
  }

  private static TlsFiles registry(Certificates.Given given) {
    return TlsFiles.decode("registry", given.caCert(), given.registryCert(), given.registryKey());
  }

  private static TlsFiles nodeController(Certificates.Given given) {
    return TlsFiles.decode(
        "nodeController", given.caCert(), given.nodeControllerCert(), given.nodeControllerKey());
  }

  /** Both certificates come from one CA, which the first decision may have replaced. */
  private Prepared issued(Certificates.Issued issued, Function<String, Optional<Secret>> stored) {
    var names = driver.names();
    var registry =
        plan(PeerRole.REGISTRY, "registryKey", issued.registry())
            .decide(
                data(stored.apply(names.authoritySecret())),
                data(stored.apply(names.registrySecret())),
                now);
    var node =
        plan(PeerRole.NODE_CONTROLLER, "nodeControllerKey", issued.nodeController())
            .decide(registry.authoritySecret(), data(stored.apply(names.nodeSecret())), now);
    List<HasMetadata> secrets =
        List.of(
            secret(names.authoritySecret(), "Opaque", Component.CONTROLLER, node.authoritySecret()),
            tls(names.registrySecret(), Component.CONTROLLER, registry.serverSecret()),
            tls(names.nodeSecret(), Component.NODE, node.serverSecret()));
    return registry
        .begins()
        .map(begins -> Prepared.notVerified(tooEarly(begins), Optional.of(begins)))
        .orElseGet(
            () ->
                prepared(
                    secrets,
                    earlier(registry.expires(), node.expires()),
                    earlier(registry.due(), node.due())));
  }

  private static RenewalPlan plan(PeerRole role, String field, KeySource source) {
    var plan = new RenewalPlan(List.of(role.certificateName()), VALIDITY, RENEW_BEFORE);
    return switch (source) {
      case KeySource.New() -> plan;
      case KeySource.Given(String key) -> plan.forKey(field, key);
    };
  }

  /** Anything else could be wrong until it is known which time is right. */
  private String tooEarly(Instant begins) {
    return "the certificate authority in secret \"%s\" is not valid before %s: set the clock of the operator's node right, or delete that secret if the authority was created while the clock was wrong"
        .formatted(driver.names().authoritySecret(), begins);
  }

  private static Prepared prepared(List<HasMetadata> secrets, Instant expires, Instant due) {
    return new Prepared(
        Optional.empty(),
        secrets,
        List.of(
            CERTS_VERIFIED.isTrue(PmemCertificates.VERIFIED),
            CERTS_READY.isTrue(PmemCertificates.READY)),
        Optional.empty(),
        Optional.of(expires),
        Optional.of(due));
  }

  private static Instant earlier(Instant one, Instant other) {
    return Stream.of(one, other).min(Instant::compareTo).orElseThrow();
  }

  private List<HasMetadata> secrets(TlsFiles registry, TlsFiles nodeController) {
    return List.of(
        tls(driver.names().registrySecret(), Component.CONTROLLER, registry.data()),
        tls(driver.names().nodeSecret(), Component.NODE, nodeController.data()));
  }

  private Secret tls(String name, Component component, Map<String, String> data) {
    return secret(name, "kubernetes.io/tls", component, data);
  }

  private Secret secret(String name, String type, Component component, Map<String, String> data) {
    return new SecretBuilder()
        .withMetadata(driver.namespaced(name, driver.labels().of(component)))
        .withType(type)
        .withData(data)
        .build();
  }

  private static Map<String, String> data(Optional<Secret> secret) {
    return secret.map(Secret::getData).orElse(Map.of());
  }
}
