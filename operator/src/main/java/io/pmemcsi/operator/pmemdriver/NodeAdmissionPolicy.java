package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.NamedRuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.NamedRuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.Validation;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.Variable;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;

/**
 * Restricts what the token of a pod on a node can be used for: RBAC cannot, because the pods of all
 * nodes share their accounts. A pod may write the objects of its own node. Objects of other nodes
 * it may change only as far as the sidecars of every node do: each provisioner sets its own
 * finalizers, and the elected resizer sets capacities, to a lower value when the user gives up an
 * expansion that does not fit, and reports the progress.
 *
 * <p>The API server knows the node of a pod from the pod's token. All tokens contain it from 1.32
 * on; before, a feature gate could switch that off, and tokens from before an upgrade lacked it:
 * the policy would refuse each write of the driver. The expressions alone would work from 1.30 on.
 */
public final class NodeAdmissionPolicy {

  public static final List<Class<? extends HasMetadata>> KINDS =
      List.of(ValidatingAdmissionPolicy.class, ValidatingAdmissionPolicyBinding.class);

  private static final String PROVISIONER_FINALIZER =
      "external-provisioner.volume.kubernetes.io/finalizer";
  private static final String CLONE_FINALIZER =
      "provisioner.storage.kubernetes.io/cloning-protection";

  private final PmemModel driver;
  private final PmemNames names;

  public NodeAdmissionPolicy(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
  }

  /** Nothing on servers that do not know the node of a pod. */
  public List<HasMetadata> objects() {
    if (!driver.facts().serves(ServedApi.ADMISSION_POLICIES)
        || !driver.facts().version().atLeast(1, 32)) {
      return List.of();
    }
    var metadata = PmemModel.clusterWide(names.nodePolicy(), driver.labels().of(Component.NODE));
    return List.of(
        new ValidatingAdmissionPolicyBuilder()
            .withMetadata(metadata)
            .withNewSpec()
            .withFailurePolicy("Fail")
            .withNewMatchConstraints()
            .withResourceRules(rules())
            .endMatchConstraints()
            .addNewMatchCondition()
            .withName("pod-on-a-node")
            .withExpression(accounts())
            .endMatchCondition()
            .withVariables(variables())
            .withValidations(validations())
            .endSpec()
            .build(),
        new ValidatingAdmissionPolicyBindingBuilder()
            .withMetadata(metadata)
            .withNewSpec()
            .withPolicyName(names.nodePolicy())
            .withValidationActions("Deny")
            .endSpec()
            .build());
  }

  /** In any namespace, so that the YAML files work in each. */
  private String accounts() {
    return """
        request.userInfo.username.startsWith('system:serviceaccount:') &&
        request.userInfo.username.split(':')[3] in ['%s', '%s']"""
        .formatted(names.nodeAccount(), names.nodeSetup());
  }

  private List<NamedRuleWithOperations> rules() {
    var rules = new ArrayList<NamedRuleWithOperations>();
    rules.add(
        rule(
            "",
            "nodes",
            "persistentvolumes",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status"));
    rules.add(rule("storage.k8s.io", "csistoragecapacities"));
    rules.add(rule("coordination.k8s.io", "leases"));
    if (driver.takesSnapshots()) {
      rules.add(
          rule(
              "snapshot.storage.k8s.io",
              "volumesnapshotcontents",
              "volumesnapshotcontents/status"));
    }
    return rules;
  }

  private static NamedRuleWithOperations rule(String group, String... resources) {
    return new NamedRuleWithOperationsBuilder()
        .withApiGroups(group)
        .withApiVersions("v1")
        .withOperations("CREATE", "UPDATE", "DELETE")
        .withResources(resources)
        .build();
  }

  /** The server computes one when a validation needs it. Values of {@code dyn} have any schema. */
  private List<Variable> variables() {
    return List.of(
        variable("driver", "'%s'".formatted(names.driverName())),
        variable(
            "node",
            "request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')"),
        variable(
            "resource",
            """
            request.resource.resource +
            (request.?subResource.orValue('') == '' ? '' : '/' + request.subResource)"""),
        variable(
            "versions",
            """
            request.operation == 'CREATE' ? [dyn(object)] :
            request.operation == 'DELETE' ? [dyn(oldObject)] : [dyn(oldObject), dyn(object)]"""),
        changed("changedSpec", "spec"),
        changed("changedStatus", "status"),
        changed("changedWithVersion", "metadata"),
        variable(
            "changedMetadata",
            """
            variables.changedWithVersion
            .filter(k, !(k in ['generation', 'managedFields', 'resourceVersion']))"""),
        changed("changedAnnotations", "metadata.?annotations"),
        variable(
            "otherFinalizers",
            """
            variables.versions.map(v, v.metadata.?finalizers.orValue([]).filter(f, !(f in [
              '%s',
              '%s'])))"""
                .formatted(PROVISIONER_FINALIZER, CLONE_FINALIZER)));
  }

  /** The keys of what an update adds, changes or removes. */
  private static Variable changed(String name, String path) {
    return variable(
        name,
        """
        (dyn(object).?PATH.orValue({}).map(k, k) + dyn(oldObject).?PATH.orValue({}).map(k, k))
        .filter(k, dyn(object).?PATH[?k] != dyn(oldObject).?PATH[?k])"""
            .replace("PATH", path));
  }

  private List<Validation> validations() {
    var validations = new ArrayList<Validation>();
    validations.add(
        new ValidationBuilder()
            .withExpression("variables.node != ''")
            .withMessage("only a pod on a node may use this account, and this token names no node")
            .withReason("Forbidden")
            .build());
    validations.add(
        only(
            "nodes",
            "the Node on which the pod runs, the driver only to remove the startup taint",
            """
            request.name == variables.node &&
            (request.userInfo.username.endsWith(':%s') ||
              variables.changedMetadata.size() == 0 &&
              variables.changedSpec.all(k, k == 'taints') &&
              dyn(object).spec.?taints.orValue([]) ==
                dyn(oldObject).spec.?taints.orValue([]).filter(t, t.key != '%s'))"""
                .formatted(names.nodeSetup(), names.startupTaint())));
    validations.add(
        only(
            "persistentvolumes",
            "PersistentVolumes of the driver on the pod's node",
            volumeOfThisNode() + " ||\n" + changeByAnyNode()));
    validations.add(
        only(
            "persistentvolumeclaims",
            "the selected node of claims for the driver, from and to the pod's node",
            """
            variables.changedSpec.size() == 0 &&
            variables.changedMetadata.all(k, k in ['annotations', 'finalizers']) &&
            variables.otherFinalizers[0] == variables.otherFinalizers[1] &&
            (variables.changedAnnotations.size() == 0 ||
              variables.changedAnnotations.all(k, k == 'volume.kubernetes.io/selected-node') &&
              variables.versions.all(claim, claim.metadata.?annotations
                [?'volume.kubernetes.io/selected-node'].orValue(variables.node) == variables.node) &&
              variables.versions.all(claim, claim.metadata.?annotations
                [?'volume.kubernetes.io/storage-provisioner'].orValue('') == variables.driver))"""));
    validations.add(
        only(
            "persistentvolumeclaims/status",
            "the progress of an expansion of claims with the driver in the annotation"
                + " volume.kubernetes.io/storage-provisioner",
            """
            variables.changedMetadata.all(k, k == 'annotations') &&
            variables.changedAnnotations.all(k,
              k == 'volume.kubernetes.io/node-expansion-not-required') &&
            variables.changedStatus.all(k,
              k in ['allocatedResources', 'allocatedResourceStatuses', 'capacity', 'conditions']) &&
            dyn(oldObject).metadata.?annotations
              [?'volume.kubernetes.io/storage-provisioner'].orValue('') == variables.driver"""));
    validations.add(
        only(
            "csistoragecapacities",
            "the capacity of the pod's node",
            """
            variables.versions.all(capacity, capacity.?nodeTopology.matchLabels
              [?(variables.driver + '/node')].orValue('') == variables.node)"""));
    validations.add(
        only(
            "leases",
            "the lease of the driver's resizer",
            "variables.versions.all(lease, lease.metadata.name == '%s')"
                .formatted(names.resizerLease())));
    for (String resource : List.of("volumesnapshotcontents", "volumesnapshotcontents/status")) {
      if (driver.takesSnapshots()) {
        validations.add(
            only(
                resource,
                "snapshots of volumes of the driver on the pod's node",
                """
                variables.versions.all(content,
                  content.spec.driver == variables.driver &&
                  content.metadata.?labels
                    [?'snapshot.storage.kubernetes.io/managed-by'].orValue('') == variables.node)"""));
      }
    }
    return validations;
  }

  private static String volumeOfThisNode() {
    return """
        variables.versions.all(volume,
          volume.spec.?csi.driver.orValue('') == variables.driver &&
          volume.spec.?nodeAffinity.required.nodeSelectorTerms.hasValue() &&
          volume.spec.nodeAffinity.required.nodeSelectorTerms.all(term,
            term.?matchExpressions.orValue([]).exists(e, e.key == variables.driver + '/node' &&
              e.operator == 'In' && e.values == [variables.node])))""";
  }

  /** The finalizer stays as long as the volume's own provisioner has to delete the volume. */
  private String changeByAnyNode() {
    return """
        request.operation == 'UPDATE' &&
        dyn(oldObject).spec.?csi.driver.orValue('') == variables.driver &&
        variables.changedSpec.all(k, k in [%s]) &&
        variables.changedMetadata.all(k, k in ['annotations', 'finalizers']) &&
        variables.changedAnnotations.all(k,
          k == 'volume.alpha.kubernetes.io/pre-resize-capacity') &&
        variables.otherFinalizers[0] == variables.otherFinalizers[1] &&
        (dyn(object).metadata.?finalizers.orValue([]).exists(f, f == '%s') ||
          !dyn(oldObject).metadata.?finalizers.orValue([]).exists(f, f == '%s') ||
          dyn(object).spec.persistentVolumeReclaimPolicy != 'Delete')"""
        .formatted(
            driver.isExpandable() ? "'capacity'" : "",
            PROVISIONER_FINALIZER,
            PROVISIONER_FINALIZER);
  }

  private static Validation only(String resource, String what, String condition) {
    return new ValidationBuilder()
        .withExpression("variables.resource != '%s' ||\n%s".formatted(resource, condition))
        .withMessage("a pod on a node may write only " + what)
        .withReason("Forbidden")
        .build();
  }

  private static Variable variable(String name, String expression) {
    return new Variable(expression, name);
  }
}
