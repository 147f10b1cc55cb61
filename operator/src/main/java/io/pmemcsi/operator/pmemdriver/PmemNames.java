package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.base.names.DriverName;

/**
 * The names of everything that belongs to one driver; kustomize patches and dashboards use them.
 *
 * @param prefix with which the names of objects begin
 */
public record PmemNames(DriverName driver, String prefix) {

  /** Names of a driver whose resource is named after it. */
  public PmemNames(DriverName driver) {
    this(driver, driver.hyphenated());
  }

  public String driverName() {
    return driver.value();
  }

  /** Of the pods on the nodes: earlier releases ran the provisioner in the controller. */
  public String nodeAccount() {
    return name("controller");
  }

  /** Of the pods on the nodes where the controller has the provisioner. */
  public String unprivilegedNodeAccount() {
    return name("node");
  }

  public String provisionerRole() {
    return name("external-provisioner-cfg");
  }

  public String provisionerRoleBinding() {
    return name("csi-provisioner-role-cfg");
  }

  public String provisionerClusterRole() {
    return name("external-provisioner-runner");
  }

  public String provisionerClusterRoleBinding() {
    return name("csi-provisioner-role");
  }

  public String resizerRole() {
    return name("external-resizer-cfg");
  }

  public String resizerRoleBinding() {
    return name("csi-resizer-role-cfg");
  }

  public String resizerClusterRole() {
    return name("external-resizer-runner");
  }

  public String resizerClusterRoleBinding() {
    return name("csi-resizer-role");
  }

  /** The lease for which the resizers compete; their program gives it this name. */
  public String resizerLease() {
    return "external-resizer-" + driver.hyphenated();
  }

  public String snapshotterClusterRole() {
    return name("external-snapshotter-runner");
  }

  public String snapshotterClusterRoleBinding() {
    return name("csi-snapshotter-role");
  }

  public String startupTaintClusterRole() {
    return name("startup-taint-runner");
  }

  public String startupTaintClusterRoleBinding() {
    return name("startup-taint-role");
  }

  /** The key of the taint that the driver removes from its node. */
  public String startupTaint() {
    return driver.startupTaint();
  }

  public String nodeDaemonSet() {
    return name("node");
  }

  public String webhooksAccount() {
    return name("webhooks");
  }

  public String webhooksRole() {
    return name("webhooks-cfg");
  }

  public String webhooksRoleBinding() {
    return name("webhooks-role-cfg");
  }

  public String webhooksClusterRole() {
    return name("webhooks-runner");
  }

  public String webhooksClusterRoleBinding() {
    return name("webhooks-role");
  }

  public String controller() {
    return name("controller");
  }

  public String controllerSecret() {
    return name("controller-secret");
  }

  /** Holds the authority that signs what the operator issues; no pod mounts it. */
  public String authoritySecret() {
    return name("controller-ca");
  }

  /** The certificate with which the central controller serves and calls the nodes. */
  public String registrySecret() {
    return name("registry-secrets");
  }

  /** The certificate that all nodes of a central controller share. */
  public String nodeSecret() {
    return name("node-secrets");
  }

  public String metricsService() {
    return name("metrics");
  }

  /** Filled by OpenShift's own certificate authority. */
  public String openshiftSecret() {
    return name("webhook-openshift");
  }

  public String schedulerService() {
    return name("scheduler");
  }

  public String webhookService() {
    return name("webhook");
  }

  public String webhookConfiguration() {
    return name("hook");
  }

  public String nodeSetup() {
    return name("node-setup");
  }

  public String nodeSetupClusterRole() {
    return name("node-setup-runner");
  }

  public String nodeSetupClusterRoleBinding() {
    return name("node-setup-role");
  }

  /** The admission policy for the pods on the nodes, and its binding. */
  public String nodePolicy() {
    return name("node-policy");
  }

  public String openshiftRoleBinding() {
    return name("node-openshift-cfg");
  }

  /** The directory on each node in which the driver keeps its state. */
  public String stateDir() {
    return "/var/lib/" + driverName();
  }

  /** The label by which a node asks for the conversion of its raw namespaces. */
  public String convertLabel() {
    return driver.convertLabel();
  }

  public String name(String suffix) {
    return prefix + "-" + suffix;
  }
}
