package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.api.model.rbac.SubjectBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Accounts, roles and bindings of one driver. */
record Rbac(PmemModel driver, Map<String, String> labels) {

  private static final String RBAC = "rbac.authorization.k8s.io";

  /** Names split by a comma; no wildcards, so that a role says what it allows. */
  static PolicyRule rule(String group, String resources, String verbs) {
    return new PolicyRuleBuilder()
        .withApiGroups(group)
        .withResources(split(resources))
        .withVerbs(split(verbs))
        .build();
  }

  ServiceAccount account(String name) {
    return new ServiceAccountBuilder().withMetadata(driver.namespaced(name, labels)).build();
  }

  Role role(String name, List<PolicyRule> rules) {
    return new RoleBuilder().withMetadata(driver.namespaced(name, labels)).withRules(rules).build();
  }

  static ClusterRole clusterRole(String name, Map<String, String> labels, List<PolicyRule> rules) {
    return new ClusterRoleBuilder()
        .withMetadata(PmemModel.clusterWide(name, labels))
        .withRules(rules)
        .build();
  }

  RoleBinding binding(String name, String role, String account) {
    return new RoleBindingBuilder()
        .withMetadata(driver.namespaced(name, labels))
        .withNewRoleRef(RBAC, "Role", role)
        .withSubjects(subject(account))
        .build();
  }

  RoleBinding bindingToClusterRole(String name, String clusterRole, String... accounts) {
    return new RoleBindingBuilder()
        .withMetadata(driver.namespaced(name, labels))
        .withNewRoleRef(RBAC, "ClusterRole", clusterRole)
        .withSubjects(Arrays.stream(accounts).map(this::subject).toList())
        .build();
  }

  ClusterRoleBinding clusterBinding(String name, String clusterRole, String account) {
    return new ClusterRoleBindingBuilder()
        .withMetadata(PmemModel.clusterWide(name, labels))
        .withNewRoleRef(RBAC, "ClusterRole", clusterRole)
        .withSubjects(subject(account))
        .build();
  }

  private Subject subject(String account) {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(account)
        .withNamespace(driver.facts().namespace())
        .build();
  }

  private static List<String> split(String names) {
    return List.of(names.split(","));
  }
}
