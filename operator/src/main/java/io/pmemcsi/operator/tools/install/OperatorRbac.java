package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.Rendering;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.kinds.pmem.ControllerCertificates;
import io.pmemcsi.operator.kinds.pmem.PmemDesiredState;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.kinds.template.TemplateDesiredState;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/** What the operator may do, without a wildcard and without secrets of other namespaces. */
final class OperatorRbac {

  /** Server-side apply is a patch, and a create where the object is missing. */
  private static final String LOOK_AFTER = "get,list,watch,create,patch,delete";

  private static final String WATCH = "get,list,watch";
  private static final String RBAC = "rbac.authorization.k8s.io";

  private final List<HasMetadata> granted = everyBlueprint();
  private final List<HasMetadata> grantedByTemplates = everyTemplateBlueprint();

  List<PolicyRule> inOwnNamespace() {
    return new RbacRules()
        .allow("", "serviceaccounts,services,secrets", LOOK_AFTER)
        .allow("", "configmaps", "get,delete")
        .allow("", "pods", WATCH)
        .allow("apps", "deployments,daemonsets", LOOK_AFTER)
        .allow("apps", "statefulsets", "get,delete")
        .allow(RBAC, "roles,rolebindings", LOOK_AFTER)
        .allow("coordination.k8s.io", "leases", "get,create,update,patch")
        .allowAll(rulesOfRoles(granted))
        .rules();
  }

  List<PolicyRule> inCluster() {
    var rules =
        new ArrayList<>(
            new RbacRules()
                // the finalizer is a patch of the resource
                .allow(PmemCSIDeployment.GROUP, "pmemcsideployments", WATCH + ",patch")
                .allow(PmemCSIDeployment.GROUP, "pmemcsideployments/status", "get,update,patch")
                .allow(PmemCSIDeployment.GROUP, "pmemcsideployments/finalizers", "update")
                .allow("", "nodes", WATCH)
                // what uses a driver is looked for before the driver is removed
                .allow("", "persistentvolumes,pods", "list")
                .allow("storage.k8s.io", "volumeattachments", "list")
                // a draining update works on the nodes and on the pods of other namespaces
                .allow("", "nodes", "patch")
                .allow("", "pods", "delete")
                .allow("", "pods/eviction", "create")
                .allow("storage.k8s.io", "csinodes", "list")
                .allow("apps", "controllerrevisions", "list")
                .allow(CSIDriverDeployment.GROUP, "csidriverdeployments", WATCH + ",patch")
                .allow(CSIDriverDeployment.GROUP, "csidriverdeployments/status", "get,update,patch")
                .allow(CSIDriverDeployment.GROUP, "csidriverdeployments/finalizers", "update")
                // drivers from templates live in whatever namespace their resource is in
                .allow("", "serviceaccounts", LOOK_AFTER)
                .allow("", "events", "create,patch")
                .allow("apps", "deployments,daemonsets", LOOK_AFTER)
                .allow(RBAC, "roles,rolebindings", LOOK_AFTER)
                .allow("storage.k8s.io", "csidrivers,storageclasses", LOOK_AFTER)
                .allow(RBAC, "clusterroles,clusterrolebindings", LOOK_AFTER)
                .allow("admissionregistration.k8s.io", "mutatingwebhookconfigurations", LOOK_AFTER)
                .allowAll(rulesOfClusterRoles(granted))
                .allowAll(rulesOfClusterRoles(grantedByTemplates))
                .allowAll(rulesOfRoles(grantedByTemplates))
                .rules());
    // on OpenShift privileged pods need this role, which only its holders or binders may pass on
    rules.add(
        new PolicyRuleBuilder()
            .withApiGroups(RBAC)
            .withResources("clusterroles")
            .withResourceNames(
                "system:openshift:scc:privileged",
                // the documented names of roles that the configuration file may give
                "system:openshift:csi-driver",
                "system:openshift:csi-driver-controller-leader-election")
            .withVerbs("bind")
            .build());
    return rules;
  }

  /** Events about resources of the whole cluster live in the default namespace. */
  static List<PolicyRule> inDefaultNamespace() {
    return new RbacRules().allow("", "events", "create,patch").rules();
  }

  /** All that may ever be granted, on whatever cluster. */
  private static List<HasMetadata> everyBlueprint() {
    var resource = new PmemCSIDeployment();
    resource.setMetadata(new ObjectMetaBuilder().withName("any").build());
    PmemSettings settings = PmemSettings.of(resource);
    var objects = new ArrayList<HasMetadata>();
    for (int minor = KubernetesVersion.OLDEST.minor();
        minor <= KubernetesVersion.NEWEST_KNOWN.minor();
        minor++) {
      var facts =
          new ClusterFacts(
              new KubernetesVersion(1, minor), "any", "any", EnumSet.allOf(ServedApi.class));
      objects.addAll(
          PmemDesiredState.of(
                  settings,
                  facts,
                  Optional.of(new ControllerCertificates("any", Optional.empty(), false)))
              .objects());
    }
    return objects;
  }

  /** The same for drivers from templates, with every sidecar. */
  private static List<HasMetadata> everyTemplateBlueprint() {
    var resource =
        (CSIDriverDeployment)
            new Rendering()
                .read(
                    """
                    apiVersion: csidriver.storage.openshift.io/v1alpha1
                    kind: CSIDriverDeployment
                    metadata: {name: any}
                    spec:
                      driverName: any
                      driverSocket: /csi/csi.sock
                      driverPerNodeTemplate:
                        spec:
                          containers:
                            - {name: any, image: any, securityContext: {privileged: true}}
                      driverControllerTemplate:
                        spec: {containers: [{name: any, image: any}]}
                      csiDriver: {storageCapacity: true}
                      sidecars: {resizer: {enabled: true}, snapshotter: {enabled: true}}
                    """);
    TemplateSettings settings = TemplateSettings.of(resource);
    var objects = new ArrayList<HasMetadata>();
    for (int minor = KubernetesVersion.OLDEST.minor();
        minor <= KubernetesVersion.NEWEST_KNOWN.minor();
        minor++) {
      var facts =
          new ClusterFacts(
              new KubernetesVersion(1, minor), "any", "any", EnumSet.allOf(ServedApi.class));
      objects.addAll(
          TemplateDesiredState.of("any", "any", settings, OperatorConfig.DEFAULT, facts).objects());
    }
    return objects;
  }

  private static List<PolicyRule> rulesOfRoles(List<HasMetadata> objects) {
    return objects.stream()
        .filter(Role.class::isInstance)
        .flatMap(role -> ((Role) role).getRules().stream())
        .toList();
  }

  private static List<PolicyRule> rulesOfClusterRoles(List<HasMetadata> objects) {
    return objects.stream()
        .filter(ClusterRole.class::isInstance)
        .flatMap(role -> ((ClusterRole) role).getRules().stream())
        .toList();
  }
}
