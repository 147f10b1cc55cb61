package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ServiceReference;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.operator.certs.CaTransition;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** How the cluster reaches the controller: the scheduler's service, the webhook and its service. */
public final class ControllerServices {

  /** While the authority is replaced, the time until which the previous one is trusted. */
  static final String PREVIOUS_CA_UNTIL = "pmem-csi.intel.com/previous-ca-until";

  /**
   * Until when pods do not depend on the webhook: a time, or {@link #REPAIRED}. Pods of the
   * controller serve a repaired certificate later than its secret has it.
   */
  static final String IGNORED_UNTIL = "pmem-csi.intel.com/ignored-until";

  /** The time is not known before the certificate can be used again. */
  static final String REPAIRED = "repaired";

  private static final String INJECT_AUTHORITY = "service.beta.openshift.io/inject-cabundle";

  /** Pods are refused while the webhook does not answer. */
  public static final String FAIL = "Fail";

  /** Pods are admitted unchanged while the webhook does not answer. */
  public static final String IGNORE = "Ignore";

  /**
   * The controller answers within a second; the other one is for the connection. The server's
   * default of 10 s would hold up every pod of the cluster while the controller hangs.
   */
  private static final int WEBHOOK_TIMEOUT_SECONDS = 2;

  static final int HTTPS_PORT = 8000;
  static final int HTTP_PORT = 8001;

  private final PmemModel driver;
  private final PmemNames names;
  private final ControllerCertificates certificates;

  public ControllerServices(PmemModel driver, ControllerCertificates certificates) {
    this.driver = driver;
    this.names = driver.names();
    this.certificates = certificates;
  }

  /** On OpenShift the scheduler cannot know the authority, and calls without TLS. */
  public Service scheduler() {
    boolean plain = certificates.issuedByOpenShift();
    var port =
        new ServicePortBuilder()
            .withProtocol("TCP")
            .withPort(plain ? 80 : 443)
            .withTargetPort(new IntOrString(plain ? HTTP_PORT : HTTPS_PORT));
    var nodePort = driver.settings().schedulerNodePort();
    nodePort.ifPresent(port::withNodePort);
    return new ServiceBuilder()
        .withMetadata(
            driver.namespaced(names.schedulerService(), driver.labels().of(Component.CONTROLLER)))
        .withNewSpec()
        .withType(nodePort.isPresent() ? "NodePort" : "ClusterIP")
        .withSelector(driver.labels().selector(Component.CONTROLLER))
        .withPorts(port.build())
        .endSpec()
        .build();
  }

  public Service webhook() {
    Service service =
        new ServiceBuilder()
            .withMetadata(
                driver.namespaced(names.webhookService(), driver.labels().of(Component.CONTROLLER)))
            .withNewSpec()
            .withType("ClusterIP")
            .withSelector(driver.labels().selector(Component.CONTROLLER))
            .withPorts(
                new ServicePortBuilder()
                    .withProtocol("TCP")
                    .withPort(443)
                    .withTargetPort(new IntOrString(HTTPS_PORT))
                    .build())
            .endSpec()
            .build();
    if (certificates.issuedByOpenShift()) {
      service
          .getMetadata()
          .setAnnotations(
              Map.of(
                  "service.beta.openshift.io/serving-cert-secret-name", certificates.secretName()));
    }
    return service;
  }

  public MutatingWebhookConfiguration configuration(String failurePolicy) {
    MutatingWebhookConfiguration configuration =
        new MutatingWebhookConfigurationBuilder()
            .withMetadata(
                PmemModel.clusterWide(
                    names.webhookConfiguration(), driver.labels().of(Component.CONTROLLER)))
            .addNewWebhook()
            .withName("pod-hook.pmem-csi.intel.com")
            .withNamespaceSelector(notIgnored())
            .withObjectSelector(notIgnored())
            .withFailurePolicy(failurePolicy)
            .withTimeoutSeconds(WEBHOOK_TIMEOUT_SECONDS)
            .withSideEffects("None")
            .withAdmissionReviewVersions("v1")
            .withNewClientConfig()
            .withCaBundle(certificates.caBundle().orElse(null))
            .withNewService()
            .withNamespace(driver.facts().namespace())
            .withName(certificates.webhookService().orElseGet(names::webhookService))
            .withPath("/pod/mutate")
            .withPort(443)
            .endService()
            .endClientConfig()
            .withRules(
                new RuleWithOperationsBuilder()
                    .withOperations("CREATE")
                    .withApiGroups("")
                    .withApiVersions("v1")
                    .withResources("pods")
                    .withScope("*")
                    .build())
            .endWebhook()
            .build();
    Map<String, String> annotations = annotations();
    if (!annotations.isEmpty()) {
      configuration.getMetadata().setAnnotations(annotations);
    }
    return configuration;
  }

  private Map<String, String> annotations() {
    var annotations = new TreeMap<String, String>();
    if (certificates.issuedByOpenShift()) {
      annotations.put(INJECT_AUTHORITY, "true");
    }
    certificates
        .previousTrustedUntil()
        .ifPresent(until -> annotations.put(PREVIOUS_CA_UNTIL, until.toString()));
    certificates
        .ignoredUntil()
        .ifPresent(until -> annotations.put(IGNORED_UNTIL, until.toString()));
    if (certificates.webhookService().isEmpty()) {
      annotations.put(IGNORED_UNTIL, REPAIRED);
    }
    return annotations;
  }

  /** What the API server trusts now, and until when that has a previous authority. */
  static CaTransition transition(
      String desired, Optional<MutatingWebhookConfiguration> found, Instant now) {
    return CaTransition.of(
        desired,
        found.flatMap(ControllerServices::authority),
        annotation(found, PREVIOUS_CA_UNTIL).flatMap(ControllerServices::instant),
        now);
  }

  /**
   * Until when pods must not depend on the webhook, because pods of the controller may still serve
   * a certificate that could not be used, or is for another name only.
   *
   * @param service by whose name the certificate in the secret is valid
   */
  static Optional<Instant> ignoredUntil(
      String service, Optional<MutatingWebhookConfiguration> found, Instant now) {
    Instant served = now.plus(CaTransition.KEPT);
    return annotation(found, IGNORED_UNTIL)
        .map(until -> instant(until).orElse(served))
        .or(
            () ->
                found
                    .filter(ControllerServices::isStrict)
                    .flatMap(ControllerServices::service)
                    .filter(called -> !called.equals(service))
                    .map(_ -> served))
        .filter(now::isBefore);
  }

  /** The service through which the API server calls the webhook. */
  static Optional<String> service(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().stream()
        .map(webhook -> webhook.getClientConfig().getService())
        .filter(Objects::nonNull)
        .map(ServiceReference::getName)
        .findFirst();
  }

  private static boolean isStrict(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().stream()
        .anyMatch(webhook -> FAIL.equals(webhook.getFailurePolicy()));
  }

  private static Optional<String> annotation(
      Optional<MutatingWebhookConfiguration> found, String name) {
    return found
        .map(configuration -> configuration.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(name));
  }

  /** The authority that the API server trusts; empty if it has none yet. */
  public static Optional<String> authority(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().stream()
        .findFirst()
        .map(webhook -> webhook.getClientConfig().getCaBundle())
        .filter(bundle -> !bundle.isEmpty());
  }

  private static Optional<Instant> instant(String text) {
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /**
   * Whether the webhook has answered once. Before that it must not be able to refuse pods: those of
   * the whole cluster would wait for a controller that may never start.
   */
  public static boolean hasAnswered(
      Optional<Deployment> controller, Optional<MutatingWebhookConfiguration> configuration) {
    return ComponentState.controller(ControllerWorkload.DEPLOYMENT, controller, Optional::empty)
            .isReady()
        || configuration.filter(ControllerServices::isStrict).isPresent();
  }

  /**
   * The webhook as it must become when its certificate cannot be used any more: pods of the whole
   * cluster would wait for an answer that the API server does not trust. It does not depend on the
   * resource, which may be invalid.
   *
   * @param found as it is now
   */
  public static Optional<HasMetadata> relaxed(Optional<MutatingWebhookConfiguration> found) {
    return found
        .filter(configuration -> !configuration.getWebhooks().isEmpty())
        .filter(
            configuration ->
                isStrict(configuration)
                    || !annotation(found, IGNORED_UNTIL).equals(Optional.of(REPAIRED)))
        .map(ControllerServices::relaxed);
  }

  private static HasMetadata relaxed(MutatingWebhookConfiguration found) {
    var annotations = new TreeMap<>(Map.of(IGNORED_UNTIL, REPAIRED));
    annotation(Optional.of(found), INJECT_AUTHORITY)
        .ifPresent(inject -> annotations.put(INJECT_AUTHORITY, inject));
    return new MutatingWebhookConfigurationBuilder(found)
        .withMetadata(
            new ObjectMetaBuilder()
                .withName(found.getMetadata().getName())
                .withLabels(found.getMetadata().getLabels())
                .withAnnotations(annotations)
                .build())
        .editFirstWebhook()
        .withFailurePolicy(IGNORE)
        .endWebhook()
        .build();
  }

  private static LabelSelector notIgnored() {
    return new LabelSelectorBuilder()
        .addNewMatchExpression()
        .withKey("pmem-csi.intel.com/webhook")
        .withOperator("NotIn")
        .withValues("ignore")
        .endMatchExpression()
        .build();
  }
}
