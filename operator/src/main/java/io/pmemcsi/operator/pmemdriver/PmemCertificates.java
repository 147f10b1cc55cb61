package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.pmemdriver.PmemCondition.CERTS_READY;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.CERTS_VERIFIED;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.pmemcsi.api.MutatePods;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.operator.certs.BadCertificateException;
import io.pmemcsi.operator.certs.CertificateCheck;
import io.pmemcsi.operator.certs.RenewalPlan;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.facts.ServedApi;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * From the TLS material that a resource names to the certificates with which its controller runs.
 *
 * @param nodeController the certificate for the nodes and its key, where the resource has them
 * @param webhook as it is now
 */
public record PmemCertificates(
    PmemModel driver,
    TLSMaterial material,
    Optional<NodeController> nodeController,
    Optional<MutatingWebhookConfiguration> webhook,
    Instant now) {

  static final String READY = "Driver certificates are available.";
  static final String VERIFIED = "Driver certificates validated.";
  private static final String NOT_VERIFIED = "Driver certificates are not valid.";
  private static final String NOT_READY = "Driver certificates are not available.";

  /** The certificate and the key for the nodes, as base64-encoded PEM. */
  public record NodeController(String certificate, String key) {}

  /**
   * What the controller gets, and what to report about it.
   *
   * @param secrets to write before the controller
   * @param failure why the driver cannot be deployed
   * @param due when to reconcile again
   */
  public record Prepared(
      Optional<ControllerCertificates> certificates,
      List<HasMetadata> secrets,
      List<DeploymentCondition> conditions,
      Optional<String> failure,
      Optional<Instant> expires,
      Optional<Instant> due) {

    public static final Prepared NOTHING =
        new Prepared(
            Optional.empty(),
            List.of(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    private static Prepared with(Optional<ControllerCertificates> certificates) {
      return new Prepared(
          certificates, List.of(), List.of(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * Nothing was checked, and the certificate of before is in use.
     *
     * @param expires when to reconcile again
     */
    public static Prepared unchecked(Optional<Instant> expires) {
      return new Prepared(
          Optional.empty(), List.of(), List.of(), Optional.empty(), Optional.empty(), expires);
    }

    /** The same, while pods of the controller may still serve the certificate of before. */
    private Prepared during(Optional<MutatingWebhookConfiguration> webhook, Instant now) {
      Optional<ControllerCertificates> during =
          certificates.map(found -> during(found, webhook, now));
      return new Prepared(
          during,
          secrets,
          conditions,
          failure,
          expires,
          Stream.of(
                  due,
                  during.flatMap(ControllerCertificates::previousTrustedUntil),
                  during.flatMap(ControllerCertificates::ignoredUntil))
              .flatMap(Optional::stream)
              .min(Comparator.naturalOrder()));
    }

    private static ControllerCertificates during(
        ControllerCertificates found, Optional<MutatingWebhookConfiguration> webhook, Instant now) {
      ControllerCertificates ignored =
          found.ignored(
              found
                  .webhookService()
                  .flatMap(service -> ControllerServices.ignoredUntil(service, webhook, now)));
      return ignored
          .caBundle()
          .map(bundle -> ignored.trusting(ControllerServices.transition(bundle, webhook, now)))
          .orElse(ignored);
    }

    static Prepared notReady(String message) {
      return failed(
          List.of(
              CERTS_READY.isFalse(NOT_READY, message), CERTS_VERIFIED.isFalse(NOT_READY, message)),
          message,
          Optional.empty());
    }

    /**
     * What is wrong cannot be used.
     *
     * @param due when time alone will cure it
     */
    static Prepared notVerified(String message, Optional<Instant> due) {
      return failed(
          List.of(
              CERTS_VERIFIED.isFalse(NOT_VERIFIED, message),
              CERTS_READY.isFalse(NOT_VERIFIED, message)),
          message,
          due);
    }

    private static Prepared failed(
        List<DeploymentCondition> conditions, String message, Optional<Instant> due) {
      return new Prepared(
          Optional.empty(), List.of(), conditions, Optional.of(message), Optional.empty(), due);
    }
  }

  /** The secrets that are known without a cluster: those in the resource itself. */
  public List<HasMetadata> inlineSecrets() {
    return material instanceof TLSMaterial.Inline inline
        ? List.of(inlineSecret(inline))
        : List.of();
  }

  private Secret inlineSecret(TLSMaterial.Inline inline) {
    return secret(
        names().controllerSecret(),
        "kubernetes.io/tls",
        TlsFiles.decode("registry", inline.caCert(), inline.cert(), inline.key()).data());
  }

  /**
   * Checks, and issues where the resource asks for that.
   *
   * @param secrets finds an observed secret in the driver's namespace
   */
  public Prepared prepare(Function<String, Optional<Secret>> secrets) {
    return checked(secrets).during(webhook, now);
  }

  private Prepared checked(Function<String, Optional<Secret>> secrets) {
    Optional<ControllerCertificates> certificates = ControllerCertificates.of(material, names());
    if (certificates.isEmpty()) {
      return Prepared.NOTHING;
    }
    if (certificates.get().issuedByOpenShift()) {
      return openshift(certificates);
    }
    try {
      return switch (material) {
        case TLSMaterial.None() -> Prepared.NOTHING;
        case TLSMaterial.NamedSecret(String name) ->
            named(certificates.get(), name, secrets.apply(name));
        case TLSMaterial.Inline inline -> inline(certificates.get(), inline);
        case TLSMaterial.Managed managed -> managed(certificates.get(), managed, secrets);
      };
    } catch (BadCertificateException e) {
      return Prepared.notVerified(String.valueOf(e.getMessage()), Optional.empty());
    }
  }

  private PmemNames names() {
    return driver.names();
  }

  private Prepared openshift(Optional<ControllerCertificates> certificates) {
    return driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)
        ? Prepared.with(certificates)
        : Prepared.notReady(
            "controllerTLSSecret: %s needs OpenShift, which this cluster is not: name a secret or"
                    .formatted(ControllerCertificates.OPENSHIFT)
                + " use controllerTLS");
  }

  private Prepared named(
      ControllerCertificates certificates, String name, Optional<Secret> secret) {
    if (secret.isEmpty()) {
      return Prepared.notReady(
          "controllerTLSSecret: there is no secret \"%s\" in namespace \"%s\": create it"
              .formatted(name, driver.facts().namespace()));
    }
    TlsFiles files = TlsFiles.of(name, data(secret));
    var check = CertificateCheck.of(files, serverNames(), now);
    if (!check.broken().isEmpty()) {
      return Prepared.notVerified(
          "controllerTLSSecret: secret \"%s\": %s"
              .formatted(name, String.join("; ", check.broken())),
          check.begins());
    }
    return prepared(
        certificates
            .withBundle(TlsFiles.encode(files.authority()))
            .calledThrough(webhookService(check)),
        List.of(),
        nameCondition(check),
        check.expires(),
        check.expires());
  }

  private Prepared inline(ControllerCertificates certificates, TLSMaterial.Inline inline) {
    TlsFiles files = TlsFiles.decode("registry", inline.caCert(), inline.cert(), inline.key());
    var check = CertificateCheck.of(files, serverNames(), now);
    var problems = new ArrayList<>(check.broken());
    if (!missing(check).isEmpty()) {
      problems.add(notFor(missing(check)));
    }
    if (!problems.isEmpty()) {
      return Prepared.notVerified(
          "caCert, registryCert, registryKey: " + String.join("; ", problems), check.begins());
    }
    Optional<Prepared> ofNodes = nodeFailure(inline.caCert());
    if (ofNodes.isPresent()) {
      return ofNodes.get();
    }
    return prepared(
        certificates
            .withBundle(TlsFiles.encode(files.authority()))
            .calledThrough(webhookService(check)),
        List.of(inlineSecret(inline)),
        CERTS_VERIFIED.isTrue(VERIFIED),
        check.expires(),
        check.expires());
  }

  /** Nothing in this release calls the nodes, but a wrong certificate is reported. */
  private Optional<Prepared> nodeFailure(String authority) {
    if (nodeController.isEmpty()) {
      return Optional.empty();
    }
    var files = nodeController.get();
    try {
      var check =
          CertificateCheck.of(
              TlsFiles.decode("nodeController", authority, files.certificate(), files.key()),
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
    return Prepared.notVerified("caCert, nodeControllerCert, nodeControllerKey: " + problems, due);
  }

  private Prepared managed(
      ControllerCertificates certificates,
      TLSMaterial.Managed managed,
      Function<String, Optional<Secret>> stored) {
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
            data(stored.apply(names().authoritySecret())),
            data(stored.apply(names().controllerSecret())),
            now);
    ControllerCertificates issued = certificates.withBundle(decision.bundle());
    return prepared(
        issued.calledThrough(
            decision.begins().isPresent() ? Optional.empty() : webhookService(services())),
        List.of(
            secret(names().authoritySecret(), "Opaque", decision.authoritySecret()),
            secret(names().controllerSecret(), "kubernetes.io/tls", decision.serverSecret())),
        decision.begins().map(this::tooEarly).orElseGet(() -> CERTS_VERIFIED.isTrue(VERIFIED)),
        decision.expires(),
        decision.due());
  }

  /** Anything else could be wrong until it is known which time is right. */
  private DeploymentCondition tooEarly(Instant begins) {
    return CERTS_VERIFIED.isFalse(
        NOT_VERIFIED,
        "the certificate authority in secret \"%s\" is not valid before %s: set the clock of the operator's node right, or delete that secret if the authority was created while the clock was wrong"
            .formatted(names().authoritySecret(), begins));
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
        List.of(verified, CERTS_READY.isTrue(READY)),
        Optional.empty(),
        Optional.of(expires),
        Optional.of(due));
  }

  /** A user's own secret may be meant for other names, so this only warns. */
  private DeploymentCondition nameCondition(CertificateCheck check) {
    return missing(check).isEmpty()
        ? CERTS_VERIFIED.isTrue(VERIFIED)
        : CERTS_VERIFIED.isFalse(NOT_VERIFIED, notFor(missing(check)));
  }

  /** A certificate for the scheduler's service is enough: the webhook is called through it, too. */
  private List<String> missing(CertificateCheck check) {
    return check.missingNames().contains(serviceName(names().schedulerService()))
        ? check.missingNames()
        : List.of();
  }

  private static String notFor(List<String> missing) {
    return "the certificate is not for " + String.join(", ", missing);
  }

  private Optional<String> webhookService(CertificateCheck check) {
    return webhookService(
        services().stream()
            .filter(service -> !check.missingNames().contains(serviceName(service)))
            .toList());
  }

  /**
   * The service through which the webhook is called now, if the certificate is valid for it, else
   * the first one: pods of the controller may still serve a certificate for the former only.
   */
  private Optional<String> webhookService(List<String> covered) {
    return webhook
        .flatMap(ControllerServices::service)
        .filter(covered::contains)
        .or(() -> covered.stream().findFirst());
  }

  private List<String> services() {
    return List.of(names().webhookService(), names().schedulerService());
  }

  /** The names by which the scheduler and the API server call the controller. */
  private List<String> serverNames() {
    var result = new ArrayList<String>();
    result.add(serviceName(names().schedulerService()));
    if (driver.settings().mutatePods() != MutatePods.NEVER) {
      result.add(serviceName(names().webhookService()));
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
