package io.pmemcsi.operator.objects;

import io.fabric8.kubernetes.api.model.ObjectMeta;
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
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Accounts, roles and bindings. Nothing here writes a wildcard: a role lists what it allows. */
public final class Rbac {

  public static final String GROUP = "rbac.authorization.k8s.io";

  /** The verbs of an informer. */
  public static final String READ = "get,list,watch";

  private static final String ROLE = "Role";
  private static final String CLUSTER_ROLE = "ClusterRole";

  private Rbac() {}

  /** Resources and verbs are separated by commas. */
  public static PolicyRule rule(String group, String resources, String verbs) {
    return new PolicyRuleBuilder()
        .withApiGroups(group)
        .withResources(List.of(resources.split(",", -1)))
        .withVerbs(List.of(verbs.split(",", -1)))
        .build();
  }

  /** A rule for its other resources. */
  public static PolicyRule without(PolicyRule rule, String resource) {
    return new PolicyRuleBuilder(rule).removeFromResources(resource).build();
  }

  public static ServiceAccount account(ObjectMeta metadata) {
    return new ServiceAccountBuilder().withMetadata(metadata).build();
  }

  public static Role role(ObjectMeta metadata, List<PolicyRule> rules) {
    return new RoleBuilder().withMetadata(metadata).withRules(rules).build();
  }

  public static ClusterRole clusterRole(ObjectMeta metadata, List<PolicyRule> rules) {
    return new ClusterRoleBuilder().withMetadata(metadata).withRules(rules).build();
  }

  /** Binds a Role of the same namespace. */
  public static RoleBinding binding(ObjectMeta metadata, String role, List<String> accounts) {
    return binding(metadata, ROLE, role, accounts);
  }

  /** Grants a ClusterRole within one namespace. */
  public static RoleBinding bindingToClusterRole(
      ObjectMeta metadata, String clusterRole, List<String> accounts) {
    return binding(metadata, CLUSTER_ROLE, clusterRole, accounts);
  }

  /**
   * Grants a ClusterRole everywhere.
   *
   * @param namespace of the account
   */
  public static ClusterRoleBinding clusterBinding(
      ObjectMeta metadata, String clusterRole, String namespace, String account) {
    return new ClusterRoleBindingBuilder()
        .withMetadata(metadata)
        .withNewRoleRef(GROUP, CLUSTER_ROLE, clusterRole)
        .withSubjects(subject(namespace, account))
        .build();
  }

  private static RoleBinding binding(
      ObjectMeta metadata, String kind, String role, List<String> accounts) {
    return new RoleBindingBuilder()
        .withMetadata(metadata)
        .withNewRoleRef(GROUP, kind, role)
        .withSubjects(
            accounts.stream().map(account -> subject(metadata.getNamespace(), account)).toList())
        .build();
  }

  public static Subject subject(String namespace, String account) {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(account)
        .withNamespace(namespace)
        .build();
  }

  private record Target(String group, String resource) {}

  /** Rules from several places as few sorted rules, each resource listed once. */
  public static List<PolicyRule> merge(Collection<PolicyRule> rules) {
    Map<Target, TreeSet<String>> verbs =
        new TreeMap<>(Comparator.comparing(Target::group).thenComparing(Target::resource));
    for (PolicyRule rule : rules) {
      for (String group : rule.getApiGroups()) {
        for (String resource : rule.getResources()) {
          verbs
              .computeIfAbsent(new Target(group, resource), _ -> new TreeSet<>())
              .addAll(rule.getVerbs());
        }
      }
    }
    var merged = new ArrayList<PolicyRule>();
    verbs.forEach((target, allowed) -> append(merged, target, List.copyOf(allowed)));
    return merged;
  }

  private static void append(List<PolicyRule> merged, Target target, List<String> verbs) {
    PolicyRule last = merged.isEmpty() ? null : merged.getLast();
    if (last != null
        && last.getApiGroups().equals(List.of(target.group()))
        && last.getVerbs().equals(verbs)) {
      last.getResources().add(target.resource());
    } else {
      merged.add(
          new PolicyRuleBuilder()
              .withApiGroups(target.group())
              .withResources(new ArrayList<>(List.of(target.resource())))
              .withVerbs(verbs)
              .build());
    }
  }
}
