package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Rbac;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import java.util.ArrayList;
import java.util.List;

/**
 * The permissions of the pods on the nodes: only the provisioner in them talks to the API server.
 * It needs no leases (a provisioner per node elects no leader), no snapshots and no secrets.
 */
public final class NodeRbac {

  private static final String STORAGE = "storage.k8s.io";

  private final PmemModel driver;

  public NodeRbac(PmemModel driver) {
    this.driver = driver;
  }

  public List<HasMetadata> objects() {
    var names = driver.names();
    var labels = driver.labels().of(Component.NODE);
    var objects = new ArrayList<HasMetadata>();
    objects.add(Rbac.account(driver.namespaced(names.nodeAccount(), labels)));
    objects.add(Rbac.role(driver.namespaced(names.provisionerRole(), labels), namespaceRules()));
    objects.add(
        Rbac.binding(
            driver.namespaced(names.provisionerRoleBinding(), labels),
            names.provisionerRole(),
            List.of(names.nodeAccount())));
    objects.add(
        Rbac.clusterRole(
            PmemModel.clusterWide(names.provisionerClusterRole(), labels), clusterRules()));
    objects.add(
        Rbac.clusterBinding(
            PmemModel.clusterWide(names.provisionerClusterRoleBinding(), labels),
            names.provisionerClusterRole(),
            driver.facts().namespace(),
            names.nodeAccount()));
    if (driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      objects.add(
          Rbac.bindingToClusterRole(
              driver.namespaced(names.openshiftRoleBinding(), labels),
              "system:openshift:scc:privileged",
              List.of(names.nodeAccount(), names.nodeSetup())));
    }
    return objects;
  }

  private List<PolicyRule> namespaceRules() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("", "pods", "get"));
    if (driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      rules.add(rule(STORAGE, "csistoragecapacities", READ + ",create,update,patch,delete"));
    }
    return rules;
  }

  private List<PolicyRule> clusterRules() {
    SidecarRelease release = driver.release(Sidecar.PROVISIONER);
    var rules = new ArrayList<>(release.rules());
    rules.add(rule("", "events", "list,watch,create,update,patch"));
    rules.add(rule(STORAGE, "storageclasses,csinodes", READ));
    rules.addAll(release.laterRules());
    return rules;
  }
}
