package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Rbac;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import io.pmemcsi.operator.pmemdriver.NodePods.Provisioning;
import java.util.ArrayList;
import java.util.List;

/**
 * The permissions of the sidecars, and of a driver that removes the startup taint: nothing else in
 * the pods on the nodes talks to the API server. The provisioner, wherever it runs, needs no leases
 * (neither one per node nor the only one elects a leader) and no secrets.
 */
public final class NodeRbac {

  private static final String STORAGE = "storage.k8s.io";

  private final PmemModel driver;
  private final Provisioning provisioning;

  public NodeRbac(PmemModel driver, Provisioning provisioning) {
    this.driver = driver;
    this.provisioning = provisioning;
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
    switch (provisioning) {
      case ON_EACH_NODE -> objects.addAll(onEachNode());
      case CENTRAL ->
          objects.add(Rbac.account(driver.namespaced(names.unprivilegedNodeAccount(), labels)));
    }
    if (driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      objects.add(
          Rbac.bindingToClusterRole(
              driver.namespaced(names.openshiftRoleBinding(), labels),
              "system:openshift:scc:privileged",
              switch (provisioning) {
                case ON_EACH_NODE -> List.of(names.nodeAccount(), names.nodeSetup());
                case CENTRAL -> List.of(names.unprivilegedNodeAccount());
              }));
    }
    return objects;
  }

  /** What a driver with a central controller does not need. */
  private List<HasMetadata> onEachNode() {
    var names = driver.names();
    var labels = driver.labels().of(Component.NODE);
    var objects = new ArrayList<HasMetadata>();
    objects.addAll(ofResizer());
    if (driver.takesSnapshots()) {
      objects.add(
          Rbac.clusterRole(
              PmemModel.clusterWide(names.snapshotterClusterRole(), labels), snapshotterRules()));
      objects.add(
          Rbac.clusterBinding(
              PmemModel.clusterWide(names.snapshotterClusterRoleBinding(), labels),
              names.snapshotterClusterRole(),
              driver.facts().namespace(),
              names.nodeAccount()));
    }
    if (driver.removesStartupTaint()) {
      objects.add(
          Rbac.clusterRole(
              PmemModel.clusterWide(names.startupTaintClusterRole(), labels),
              List.of(rule("", "nodes", "get,patch"), rule(STORAGE, "csinodes", "get"))));
      objects.add(
          Rbac.clusterBinding(
              PmemModel.clusterWide(names.startupTaintClusterRoleBinding(), labels),
              names.startupTaintClusterRole(),
              driver.facts().namespace(),
              names.nodeAccount()));
    }
    return objects;
  }

  private List<HasMetadata> ofResizer() {
    var names = driver.names();
    var labels = driver.labels().of(Component.NODE);
    return List.of(
        Rbac.role(
            driver.namespaced(names.resizerRole(), labels),
            List.of(rule("coordination.k8s.io", "leases", READ + ",create,update,patch,delete"))),
        Rbac.binding(
            driver.namespaced(names.resizerRoleBinding(), labels),
            names.resizerRole(),
            List.of(names.nodeAccount())),
        Rbac.clusterRole(PmemModel.clusterWide(names.resizerClusterRole(), labels), resizerRules()),
        Rbac.clusterBinding(
            PmemModel.clusterWide(names.resizerClusterRoleBinding(), labels),
            names.resizerClusterRole(),
            driver.facts().namespace(),
            names.nodeAccount()));
  }

  private List<PolicyRule> resizerRules() {
    SidecarRelease release = driver.release(Sidecar.RESIZER);
    var rules = new ArrayList<>(release.rules());
    // only a resizer that handles volumes in use reads pods
    rules.replaceAll(rule -> Rbac.without(rule, "pods"));
    rules.add(rule("", "events", "list,watch,create,update,patch"));
    rules.addAll(release.laterRules());
    return rules;
  }

  private List<PolicyRule> snapshotterRules() {
    SidecarRelease release = driver.release(Sidecar.SNAPSHOTTER);
    var rules = new ArrayList<>(release.rules());
    // the provisioner reads what a claim is to be restored from
    rules.add(rule("snapshot.storage.k8s.io", "volumesnapshots", "get,list"));
    rules.add(rule("", "events", "list,watch,create,update,patch"));
    rules.addAll(release.laterRules());
    return rules;
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
