package io.pmemcsi.operator.kinds.pmem;

import io.pmemcsi.base.names.DriverName;

/**
 * The names of everything that belongs to one driver; kustomize patches and dashboards use them.
 */
record PmemNames(DriverName driver) {

  String driverName() {
    return driver.value();
  }

  /** Of the pods on the nodes; the provisioner in them once ran in the controller. */
  String nodeAccount() {
    return name("controller");
  }

  String provisionerRole() {
    return name("external-provisioner-cfg");
  }

  String provisionerRoleBinding() {
    return name("csi-provisioner-role-cfg");
  }

  String provisionerClusterRole() {
    return name("external-provisioner-runner");
  }

  String provisionerClusterRoleBinding() {
    return name("csi-provisioner-role");
  }

  String nodeDaemonSet() {
    return name("node");
  }

  String webhooksAccount() {
    return name("webhooks");
  }

  String webhooksRole() {
    return name("webhooks-cfg");
  }

  String webhooksRoleBinding() {
    return name("webhooks-role-cfg");
  }

  String webhooksClusterRole() {
    return name("webhooks-runner");
  }

  String webhooksClusterRoleBinding() {
    return name("webhooks-role");
  }

  String controller() {
    return name("controller");
  }

  String controllerSecret() {
    return name("controller-secret");
  }

  /** Holds the authority that signs what the operator issues; no pod mounts it. */
  String authoritySecret() {
    return name("controller-ca");
  }

  /** Filled by OpenShift's own certificate authority. */
  String openshiftSecret() {
    return name("webhook-openshift");
  }

  String schedulerService() {
    return name("scheduler");
  }

  String webhookService() {
    return name("webhook");
  }

  String webhookConfiguration() {
    return name("hook");
  }

  String nodeSetup() {
    return name("node-setup");
  }

  String nodeSetupClusterRole() {
    return name("node-setup-runner");
  }

  String nodeSetupClusterRoleBinding() {
    return name("node-setup-role");
  }

  String openshiftRoleBinding() {
    return name("node-openshift-cfg");
  }

  /** The directory on each node in which the driver keeps its state. */
  String stateDir() {
    return "/var/lib/" + driverName();
  }

  /** The label by which a node asks for the conversion of its raw namespaces. */
  String convertLabel() {
    return driver.convertLabel();
  }

  String name(String suffix) {
    return driver.hyphenated() + "-" + suffix;
  }
}
