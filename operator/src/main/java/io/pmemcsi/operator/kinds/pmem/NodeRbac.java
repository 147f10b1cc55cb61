package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;

/**
 * What the pods on the nodes may do: only the provisioner in them talks to the API server. Neither
 * leases (a provisioner per node needs no leader) nor snapshots nor secrets are among it.
 */
final class NodeRbac {

  private final PmemModel driver;

  NodeRbac(PmemModel driver) {
    this.driver = driver;
  }

  List<HasMetadata> objects() {
    var names = driver.names();
    var labels = driver.labels().of(Component.NODE);
    var access = new Rbac(driver, labels);
    var objects = new ArrayList<HasMetadata>();
    objects.add(access.account(names.nodeAccount()));
    objects.add(access.role(names.provisionerRole(), namespaceRules()));
    objects.add(
        access.binding(
            names.provisionerRoleBinding(), names.provisionerRole(), names.nodeAccount()));
    objects.add(Rbac.clusterRole(names.provisionerClusterRole(), labels, clusterRules()));
    objects.add(
        access.clusterBinding(
            names.provisionerClusterRoleBinding(),
            names.provisionerClusterRole(),
            names.nodeAccount()));
    if (driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      objects.add(
          access.bindingToClusterRole(
              names.openshiftRoleBinding(),
              "system:openshift:scc:privileged",
              names.nodeAccount(),
              names.nodeSetup()));
    }
    return objects;
  }

  private List<PolicyRule> namespaceRules() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(Rbac.rule("", "pods", "get"));
    if (driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      rules.add(
          Rbac.rule(
              "storage.k8s.io",
              "csistoragecapacities",
              "get,list,watch,create,update,patch,delete"));
    }
    return rules;
  }

  private List<PolicyRule> clusterRules() {
    var version = driver.facts().version();
    var rules = new ArrayList<PolicyRule>();
    // csi-provisioner 5 keeps a finalizer on the volume until it is really deleted
    rules.add(
        Rbac.rule(
            "",
            "persistentvolumes",
            version.atLeast(1, 27)
                ? "get,list,watch,create,patch,delete"
                : "get,list,watch,create,delete"));
    rules.add(Rbac.rule("", "persistentvolumeclaims", "get,list,watch,update"));
    rules.add(Rbac.rule("", "nodes", "get,list,watch"));
    rules.add(Rbac.rule("", "events", "list,watch,create,update,patch"));
    rules.add(Rbac.rule("storage.k8s.io", "storageclasses,csinodes", "get,list,watch"));
    if (version.atLeast(1, 34)) {
      rules.add(Rbac.rule("storage.k8s.io", "volumeattributesclasses", "get,list,watch"));
    }
    return rules;
  }
}
