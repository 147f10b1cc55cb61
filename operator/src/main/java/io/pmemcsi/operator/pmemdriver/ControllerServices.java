package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.operator.certs.CaTransition;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;

/** How the cluster reaches the controller: the scheduler's service, the webhook and its service. */
public final class ControllerServices {

  /** While the authority is replaced, the time until which the previous one is trusted. */
  static final String PREVIOUS_CA_UNTIL = "pmem-csi.intel.com/previous-ca-until";

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
    if (certificates.issuedByOpenShift()) {
      configuration
          .getMetadata()
          .setAnnotations(Map.of("service.beta.openshift.io/inject-cabundle", "true"));
    }
    certificates
        .previousTrustedUntil()
        .ifPresent(
            until ->
                configuration
                    .getMetadata()
                    .setAnnotations(Map.of(PREVIOUS_CA_UNTIL, until.toString())));
    return configuration;
  }

  /** What the API server trusts now, and until when that has a previous authority. */
  static CaTransition transition(
      String desired, Optional<MutatingWebhookConfiguration> found, Instant now) {
    return CaTransition.of(
        desired,
        found.flatMap(ControllerServices::authority),
        found
            .map(configuration -> configuration.getMetadata().getAnnotations())
            .map(annotations -> annotations.get(PREVIOUS_CA_UNTIL))
            .flatMap(ControllerServices::instant),
        now);
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
        || configuration
            .filter(
                found ->
                    found.getWebhooks().stream()
                        .anyMatch(webhook -> FAIL.equals(webhook.getFailurePolicy())))
            .isPresent();
  }

  /**
   * The webhook as it must become when its certificate cannot be used any more: pods of the whole
   * cluster would wait for an answer that the API server does not trust.
   *
   * @param found as it is now
   */
  public static Optional<HasMetadata> relaxed(
      PmemModel driver, TLSMaterial material, Optional<MutatingWebhookConfiguration> found) {
    return found
        .map(configuration -> configuration.getWebhooks().getFirst())
        .filter(webhook -> FAIL.equals(webhook.getFailurePolicy()))
        .flatMap(
            webhook ->
                ControllerCertificates.of(material, driver.names())
                    .map(
                        certificates ->
                            certificates
                                .withBundle(webhook.getClientConfig().getCaBundle())
                                .calledThrough(
                                    Optional.of(webhook.getClientConfig().getService().getName()))))
        .map(certificates -> new ControllerServices(driver, certificates).configuration(IGNORE));
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
