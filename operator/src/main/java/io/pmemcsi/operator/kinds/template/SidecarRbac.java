package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * What the sidecars of a controller pod need, as their projects list it
 * (deploy/kubernetes/rbac.yaml of each), for those that run. Secrets are not among it: who refers
 * to secrets in a storage class gives access to just these.
 */
record SidecarRbac(TemplateDriver driver) {

  private static final String READ = "get,list,watch";
  private static final String STORAGE = "storage.k8s.io";
  private static final String SNAPSHOTS = "snapshot.storage.k8s.io";

  boolean areNeeded() {
    var settings = driver.settings();
    return settings.hasProvisioner()
        || settings.hasAttacher()
        || settings.hasResizer()
        || settings.hasSnapshotter();
  }

  List<PolicyRule> inCluster() {
    var settings = driver.settings();
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("", "events", "list,watch,create,update,patch"));
    if (settings.hasProvisioner()) {
      provisioner(rules);
    }
    if (settings.hasAttacher()) {
      rules.add(rule("", "persistentvolumes", READ + ",patch"));
      rules.add(rule(STORAGE, "csinodes", READ));
      rules.add(rule(STORAGE, "volumeattachments", READ + ",patch"));
      rules.add(rule(STORAGE, "volumeattachments/status", "patch"));
    }
    if (settings.hasResizer()) {
      rules.add(rule("", "persistentvolumes", READ + ",patch"));
      rules.add(rule("", "persistentvolumeclaims,pods", READ));
      rules.add(rule("", "persistentvolumeclaims/status", "patch"));
    }
    if (settings.hasSnapshotter()) {
      rules.add(rule(SNAPSHOTS, "volumesnapshotclasses", READ));
      rules.add(rule(SNAPSHOTS, "volumesnapshotcontents", READ + ",update,patch"));
      rules.add(rule(SNAPSHOTS, "volumesnapshotcontents/status", "update,patch"));
    }
    if (driver.facts().version().atLeast(1, 34)
        && (settings.hasProvisioner() || settings.hasResizer())) {
      rules.add(rule(STORAGE, "volumeattributesclasses", READ));
    }
    return rules;
  }

  private void provisioner(List<PolicyRule> rules) {
    // csi-provisioner 5 keeps a finalizer on the volume until it is really deleted
    rules.add(
        rule(
            "",
            "persistentvolumes",
            driver.facts().version().atLeast(1, 27)
                ? READ + ",create,patch,delete"
                : READ + ",create,delete"));
    rules.add(rule("", "persistentvolumeclaims", READ + ",update"));
    rules.add(rule("", "nodes", READ));
    rules.add(rule(STORAGE, "storageclasses,csinodes,volumeattachments", READ));
    if (driver.settings().hasSnapshotter()) {
      rules.add(rule(SNAPSHOTS, "volumesnapshots", READ + ",update"));
      rules.add(rule(SNAPSHOTS, "volumesnapshotcontents", "get,list"));
    }
  }

  List<PolicyRule> inNamespace() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("coordination.k8s.io", "leases", "get,list,watch,create,update,patch,delete"));
    if (new SidecarContainers(driver).publishesCapacity()) {
      rules.add(rule(STORAGE, "csistoragecapacities", READ + ",create,update,patch,delete"));
      // the capacities belong to the Deployment, which is found from the pod upwards
      rules.add(rule("", "pods", "get"));
      rules.add(rule("apps", "replicasets", "get"));
    }
    return rules;
  }

  /** Names split by a comma; no wildcards, so that a role says what it allows. */
  private static PolicyRule rule(String group, String resources, String verbs) {
    return new PolicyRuleBuilder()
        .withApiGroups(group)
        .withResources(resources.split(",", -1))
        .withVerbs(verbs.split(",", -1))
        .build();
  }
}
