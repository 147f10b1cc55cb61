package io.pmemcsi.operator.kinds.pmem;

import static io.pmemcsi.api.pmem.DeploymentCondition.CERTS_READY;
import static io.pmemcsi.api.pmem.DeploymentCondition.CERTS_VERIFIED;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.pmemcsi.api.MutatePods;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.operator.certs.BadCertificateException;
import io.pmemcsi.operator.certs.CertificateCheck;
import io.pmemcsi.operator.certs.RenewalPlan;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * From the TLS material that a resource names to the certificates with which its controller runs.
 */
public final class PmemCertificates {

  /** In place of a secret's name: OpenShift shall make the certificates. */
  static final String OPENSHIFT = "-openshift-";

  private static final String READY = "Driver certificates are available.";
  private static final String VERIFIED = "Driver certificates validated.";
  private static final String NOT_VERIFIED = "Driver certificates are not valid.";
  private static final String NOT_READY = "Driver certificates are not available.";

  private final PmemModel driver;
  private final PmemNames names;
  private final Instant now;

  PmemCertificates(PmemSettings settings, ClusterFacts facts, Instant now) {
    this.driver = new PmemModel(settings, facts);
    this.names = driver.names();
    this.now = now;
  }

  /**
   * What the controller gets, and what to tell about it.
   *
   * @param secrets to write before the controller
   * @param failure why the driver cannot be deployed
   * @param due when to look again
   */
  record Prepared(
      Optional<ControllerCertificates> certificates,
      List<HasMetadata> secrets,
      List<DeploymentCondition> conditions,
      Optional<String> failure,
      Optional<Instant> expires,
      Optional<Instant> due) {

    static Prepared nothing() {
      return new Prepared(
          Optional.empty(),
          List.of(),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    static Prepared failed(String type, String reason, String message) {
      return failed(type, reason, message, Optional.empty());
    }

    /**
     * @param due when time alone will mend it
     */
    static Prepared failed(String type, String reason, String message, Optional<Instant> due) {
      return new Prepared(
          Optional.empty(),
          List.of(),
          List.of(
              ObservedStatus.condition(type, false, reason, message),
              // what is missing was not verified, and what is wrong cannot be used
              ObservedStatus.condition(
                  type.equals(CERTS_READY) ? CERTS_VERIFIED : CERTS_READY, false, reason, message)),
          Optional.of(message),
          Optional.empty(),
          due);
    }
  }

  /** Certificates that stand in the resource itself; those that are issued exist only once. */
  static List<HasMetadata> assumedSecrets(PmemSettings settings, ClusterFacts facts) {
    return switch (settings.tls()) {
      case TLSMaterial.Inline inline ->
          List.of(new PmemCertificates(settings, facts, Instant.EPOCH).inlineSecret(inline));
      case TLSMaterial.None() -> List.of();
      case TLSMaterial.NamedSecret named -> List.of();
      case TLSMaterial.Managed managed -> List.of();
    };
  }

  private Secret inlineSecret(TLSMaterial.Inline inline) {
    return secret(
        names.controllerSecret(),
        "kubernetes.io/tls",
        TlsFiles.decode("registry", inline.caCert(), inline.cert(), inline.key()).data());
  }

  /** As far as can be told without looking at a cluster. */
  public static Optional<ControllerCertificates> assumed(PmemSettings settings) {
    var names = new PmemNames(settings.driver());
    return switch (settings.tls()) {
      case TLSMaterial.None() -> Optional.empty();
      case TLSMaterial.NamedSecret(String name) when name.equals(OPENSHIFT) ->
          Optional.of(new ControllerCertificates(names.openshiftSecret(), Optional.empty(), true));
      case TLSMaterial.NamedSecret(String name) ->
          Optional.of(new ControllerCertificates(name, Optional.empty(), false));
      case TLSMaterial.Inline inline ->
          Optional.of(
              new ControllerCertificates(
                  names.controllerSecret(), Optional.of(inline.caCert()), false));
      case TLSMaterial.Managed managed ->
          Optional.of(
              new ControllerCertificates(names.controllerSecret(), Optional.empty(), false));
    };
  }

  /**
   * Checks, and issues where that is asked for.
   *
   * @param users finds a secret of the user in the driver's namespace
   * @param own finds one that we made
   */
  Prepared prepare(
      Function<String, Optional<Secret>> users, Function<String, Optional<Secret>> own) {
    try {
      return switch (driver.settings().tls()) {
        case TLSMaterial.None() -> Prepared.nothing();
        case TLSMaterial.NamedSecret(String name) when name.equals(OPENSHIFT) -> openshift();
        case TLSMaterial.NamedSecret(String name) -> named(name, users.apply(name));
        case TLSMaterial.Inline inline -> inline(inline);
        case TLSMaterial.Managed managed -> managed(managed, own);
      };
    } catch (BadCertificateException e) {
      return Prepared.failed(CERTS_VERIFIED, NOT_VERIFIED, String.valueOf(e.getMessage()));
    }
  }

  private Prepared openshift() {
    if (!driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      return Prepared.failed(
          CERTS_READY,
          NOT_READY,
          "controllerTLSSecret: %s needs OpenShift, which this cluster is not: name a secret or use"
                  .formatted(OPENSHIFT)
              + " controllerTLS");
    }
    return new Prepared(
        assumed(driver.settings()),
        List.of(),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private Prepared named(String name, Optional<Secret> secret) {
    if (secret.isEmpty()) {
      return Prepared.failed(
          CERTS_READY,
          NOT_READY,
          "controllerTLSSecret: there is no secret \"%s\" in namespace \"%s\": create it"
              .formatted(name, driver.facts().namespace()));
    }
    TlsFiles files = TlsFiles.of(name, data(secret));
    var check = CertificateCheck.of(files, serverNames(), now);
    if (!check.broken().isEmpty()) {
      return Prepared.failed(
          CERTS_VERIFIED,
          NOT_VERIFIED,
          "controllerTLSSecret: secret \"%s\": %s"
              .formatted(name, String.join("; ", check.broken())),
          check.begins());
    }
    return prepared(
        new ControllerCertificates(name, Optional.of(TlsFiles.encode(files.authority())), false),
        List.of(),
        nameCondition(check),
        check.expires(),
        check.expires());
  }

  private Prepared inline(TLSMaterial.Inline inline) {
    TlsFiles files = TlsFiles.decode("registry", inline.caCert(), inline.cert(), inline.key());
    var check = CertificateCheck.of(files, serverNames(), now);
    var problems = new ArrayList<>(check.broken());
    if (!check.missingNames().isEmpty()) {
      problems.add(missing(check));
    }
    if (!problems.isEmpty()) {
      return Prepared.failed(
          CERTS_VERIFIED,
          NOT_VERIFIED,
          "caCert, registryCert, registryKey: " + String.join("; ", problems),
          check.begins());
    }
    Optional<Prepared> ofNodes = nodeFailure(inline.caCert());
    if (ofNodes.isPresent()) {
      return ofNodes.get();
    }
    return prepared(
        new ControllerCertificates(
            names.controllerSecret(), Optional.of(TlsFiles.encode(files.authority())), false),
        List.of(inlineSecret(inline)),
        ObservedStatus.condition(CERTS_VERIFIED, true, VERIFIED),
        check.expires(),
        check.expires());
  }

  /** Nothing in this release calls the nodes, but a wrong certificate is not to go unnoticed. */
  private Optional<Prepared> nodeFailure(String authority) {
    var spec = driver.settings().spec();
    if (spec.nodeControllerCert() == null || spec.nodeControllerKey() == null) {
      return Optional.empty();
    }
    try {
      var check =
          CertificateCheck.of(
              TlsFiles.decode(
                  "nodeController", authority, spec.nodeControllerCert(), spec.nodeControllerKey()),
              List.of(),
              now);
      return check.broken().isEmpty()
          ? Optional.empty()
          : Optional.of(nodeFailure(String.join("; ", check.broken()), check.begins()));
    } catch (BadCertificateException e) {
      return Optional.of(nodeFailure(String.valueOf(e.getMessage()), Optional.empty()));
    }
  }

  private static Prepared nodeFailure(String problems, Optional<Instant> due) {
    return Prepared.failed(
        CERTS_VERIFIED,
        NOT_VERIFIED,
        "caCert, nodeControllerCert, nodeControllerKey: " + problems,
        due);
  }

  private Prepared managed(TLSMaterial.Managed managed, Function<String, Optional<Secret>> stored) {
    var options = managed.options();
    var all = new ArrayList<>(serverNames());
    all.add("127.0.0.1");
    all.addAll(options.extraNamesOrNone());
    var plan =
        new RenewalPlan(
            all.stream().distinct().toList(),
            Duration.ofDays(options.validityDaysOrDefault()),
            Duration.ofDays(options.renewBeforeDaysOrDefault()));
    var decision =
        plan.decide(
            data(stored.apply(names.authoritySecret())),
            data(stored.apply(names.controllerSecret())),
            now);
    return prepared(
        new ControllerCertificates(names.controllerSecret(), Optional.of(decision.bundle()), false),
        List.of(
            secret(names.authoritySecret(), "Opaque", decision.authoritySecret()),
            secret(names.controllerSecret(), "kubernetes.io/tls", decision.serverSecret())),
        decision
            .begins()
            .map(this::tooEarly)
            .orElseGet(() -> ObservedStatus.condition(CERTS_VERIFIED, true, VERIFIED)),
        decision.expires(),
        decision.due());
  }

  /** Nothing else would be better before it is known which time is right. */
  private DeploymentCondition tooEarly(Instant begins) {
    return ObservedStatus.condition(
        CERTS_VERIFIED,
        false,
        NOT_VERIFIED,
        "the certificate authority in secret \"%s\" is not valid before %s: set the clock of the operator's node right, or delete that secret if the authority was made while the clock was wrong"
            .formatted(names.authoritySecret(), begins));
  }

  private static Prepared prepared(
      ControllerCertificates certificates,
      List<HasMetadata> secrets,
      DeploymentCondition verified,
      Instant expires,
      Instant due) {
    return new Prepared(
        Optional.of(certificates),
        secrets,
        List.of(verified, ObservedStatus.condition(CERTS_READY, true, READY)),
        Optional.empty(),
        Optional.of(expires),
        Optional.of(due));
  }

  /** A user's own secret may be meant for other names, so this only warns. */
  private static DeploymentCondition nameCondition(CertificateCheck check) {
    return check.missingNames().isEmpty()
        ? ObservedStatus.condition(CERTS_VERIFIED, true, VERIFIED)
        : ObservedStatus.condition(CERTS_VERIFIED, false, NOT_VERIFIED, missing(check));
  }

  private static String missing(CertificateCheck check) {
    return "the certificate is not for " + String.join(", ", check.missingNames());
  }

  /** By which the scheduler and the API server call the controller. */
  private List<String> serverNames() {
    var result = new ArrayList<String>();
    result.add(serviceName(names.schedulerService()));
    if (driver.settings().mutatePods() != MutatePods.NEVER) {
      result.add(serviceName(names.webhookService()));
    }
    return result;
  }

  private String serviceName(String service) {
    return "%s.%s.svc".formatted(service, driver.facts().namespace());
  }

  private Secret secret(String name, String type, Map<String, String> data) {
    return new SecretBuilder()
        .withMetadata(driver.namespaced(name, driver.labels().of(Component.CONTROLLER)))
        .withType(type)
        .withData(data)
        .build();
  }

  private static Map<String, String> data(Optional<Secret> secret) {
    return secret.map(Secret::getData).orElse(Map.of());
  }
}
