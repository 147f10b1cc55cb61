package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import java.util.Map;

/** How the cluster reaches the controller: the scheduler's service, the webhook and its service. */
final class ControllerServices {

  static final int HTTPS_PORT = 8000;
  static final int HTTP_PORT = 8001;

  private final PmemModel driver;
  private final PmemNames names;
  private final ControllerCertificates certificates;

  ControllerServices(PmemModel driver, ControllerCertificates certificates) {
    this.driver = driver;
    this.names = driver.names();
    this.certificates = certificates;
  }

  /** On OpenShift the scheduler cannot know the authority, and calls without TLS. */
  Service scheduler() {
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

  Service webhook() {
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

  MutatingWebhookConfiguration configuration(String failurePolicy) {
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
            .withSideEffects("None")
            .withAdmissionReviewVersions("v1")
            .withNewClientConfig()
            .withCaBundle(certificates.caBundle().orElse(null))
            .withNewService()
            .withNamespace(driver.facts().namespace())
            .withName(names.webhookService())
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
    return configuration;
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
