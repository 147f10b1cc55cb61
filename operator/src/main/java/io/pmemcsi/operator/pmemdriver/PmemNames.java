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
