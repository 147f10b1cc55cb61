package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import java.util.ArrayList;
import java.util.List;

/**
 * The permissions of the sidecars in a controller pod. Secrets are not among them: users whose
 * storage classes refer to secrets grant access to just these.
 */
record SidecarRbac(TemplateDriver driver) {

  private static final String STORAGE = "storage.k8s.io";
  private static final String SNAPSHOTS = "snapshot.storage.k8s.io";

  boolean isNeeded() {
    return !releases().isEmpty();
  }

  private List<SidecarRelease> releases() {
    return driver.controllerSidecars().stream().map(driver::release).toList();
  }

  List<PolicyRule> inCluster() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("", "events", "list,watch,create,update,patch"));
    for (SidecarRelease release : releases()) {
      rules.addAll(release.rules());
      if (release.sidecar() == Sidecar.PROVISIONER) {
        rules.addAll(provisioner());
      }
    }
    rules.addAll(SidecarRelease.laterRules(releases()));
    return rules;
  }

  /** What the provisioner needs beside its own rules where volumes are attached or restored. */
  private List<PolicyRule> provisioner() {
    PolicyRule volumes = rule(STORAGE, "storageclasses,csinodes,volumeattachments", READ);
    return driver.settings().hasSnapshotter()
        ? List.of(
            volumes,
            rule(SNAPSHOTS, "volumesnapshots", READ + ",update"),
            rule(SNAPSHOTS, "volumesnapshotcontents", "get,list"))
        : List.of(volumes);
  }

  List<PolicyRule> inNamespace() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("coordination.k8s.io", "leases", READ + ",create,update,patch,delete"));
    if (driver.publishesCapacity()) {
      rules.add(rule(STORAGE, "csistoragecapacities", READ + ",create,update,patch,delete"));
      // the capacities belong to the Deployment, which is found from the pod upwards
      rules.add(rule("", "pods", "get"));
      rules.add(rule("apps", "replicasets", "get"));
    }
    return rules;
  }
}
