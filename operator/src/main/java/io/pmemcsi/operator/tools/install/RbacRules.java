package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Rights put together from several places, each named once. */
final class RbacRules {

  private record Target(String group, String resource) implements Comparable<Target> {
    @Override
    public int compareTo(Target other) {
      return group.equals(other.group)
          ? resource.compareTo(other.resource)
          : group.compareTo(other.group);
    }
  }

  private final Map<Target, TreeSet<String>> verbs = new TreeMap<>();

  /** Resources and verbs split by a comma. */
  RbacRules allow(String group, String resources, String verbList) {
    for (String resource : resources.split(",", -1)) {
      verbs
          .computeIfAbsent(new Target(group, resource), key -> new TreeSet<>())
          .addAll(List.of(verbList.split(",", -1)));
    }
    return this;
  }

  /** Who grants a right must have it: the API server refuses an escalation. */
  RbacRules allowAll(Collection<PolicyRule> rules) {
    for (PolicyRule rule : rules) {
      for (String group : rule.getApiGroups()) {
        for (String resource : rule.getResources()) {
          verbs
              .computeIfAbsent(new Target(group, resource), key -> new TreeSet<>())
              .addAll(rule.getVerbs());
        }
      }
    }
    return this;
  }

  List<PolicyRule> rules() {
    var rules = new ArrayList<PolicyRule>();
    verbs.forEach(
        (target, allowed) -> {
          PolicyRule last = rules.isEmpty() ? null : rules.getLast();
          if (last != null
              && last.getApiGroups().equals(List.of(target.group()))
              && last.getVerbs().equals(List.copyOf(allowed))) {
            last.getResources().add(target.resource());
          } else {
            rules.add(
                new PolicyRuleBuilder()
                    .withApiGroups(target.group())
                    .withResources(new ArrayList<>(List.of(target.resource())))
                    .withVerbs(List.copyOf(allowed))
                    .build());
          }
        });
    return rules;
  }
}
