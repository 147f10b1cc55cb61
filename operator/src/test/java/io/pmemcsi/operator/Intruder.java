package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.api.model.rbac.SubjectBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Somebody who changes no value of the operator, but adds his own and takes some away: rights,
 * selectors, arguments and marks, which are not his to add to, and labels, containers and ports,
 * which are.
 */
final class Intruder {

  private static final String MINE = "intruder";
  private static final int PORT = 4711;

  /** For ports without one: they need names as soon as there are two. */
  private static final String NAMED = "intruder-named-it";

  private Intruder() {}

  static HasMetadata intrude(HasMetadata object) {
    var metadata = object.getMetadata();
    metadata.getLabels().put(MINE, "kept");
    metadata.getLabels().remove("pmem-csi.intel.com/owner-uid");
    metadata.getAnnotations().remove("pmem-csi.intel.com/owner");
    switch (object) {
      case DaemonSet set -> intrude(set.getSpec().getTemplate().getSpec());
      case Deployment deployment -> intrude(deployment.getSpec().getTemplate().getSpec());
      case Service service -> {
        service.getSpec().setSelector(with(service.getSpec().getSelector()));
        service
            .getSpec()
            .setPorts(
                with(
                    service.getSpec().getPorts(),
                    new ServicePortBuilder()
                        .withName(MINE)
                        .withProtocol("TCP")
                        .withPort(PORT)
                        .build()));
        service.getSpec().getPorts().stream()
            .filter(port -> port.getName() == null)
            .forEach(port -> port.setName(NAMED));
      }
      case Secret secret -> {
        String first = secret.getData().keySet().stream().sorted().findFirst().orElseThrow();
        secret.getData().remove(first);
        secret.getData().put(MINE, TlsSecrets.encoded(MINE));
      }
      case Role role -> role.setRules(intrude(role.getRules()));
      case ClusterRole role -> role.setRules(intrude(role.getRules()));
      case RoleBinding binding -> binding.setSubjects(with(binding.getSubjects(), subject()));
      case ClusterRoleBinding binding ->
          binding.setSubjects(with(binding.getSubjects(), subject()));
      case MutatingWebhookConfiguration hook -> {
        var first = hook.getWebhooks().getFirst();
        first.setRules(
            with(
                first.getRules(),
                new RuleWithOperationsBuilder(first.getRules().getFirst())
                    .withResources("secrets")
                    .build()));
        first.getObjectSelector().setMatchLabels(Map.of(MINE, "yes"));
      }
      default -> {
        // the spec of a CSIDriver never changes, and a ServiceAccount has nothing but its marks
      }
    }
    return object;
  }

  /** One more right, and one less. */
  private static List<PolicyRule> intrude(List<PolicyRule> rules) {
    return with(
        rules.subList(1, rules.size()),
        new PolicyRuleBuilder()
            .withApiGroups("")
            .withResources("secrets")
            .withVerbs("get", "list")
            .build());
  }

  private static void intrude(PodSpec pod) {
    var first = pod.getContainers().getFirst();
    first.setArgs(with(first.getArgs(), "-" + MINE));
    first.setVolumeMounts(List.of());
    List<Toleration> tolerations = pod.getTolerations() == null ? List.of() : pod.getTolerations();
    pod.setTolerations(
        with(tolerations, new TolerationBuilder().withKey(MINE).withOperator("Exists").build()));
    pod.setNodeSelector(with(pod.getNodeSelector()));
    pod.setContainers(
        with(pod.getContainers(), new ContainerBuilder().withName(MINE).withImage(MINE).build()));
  }

  /** Takes along what was his to add; fails if it is not there. */
  static HasMetadata leave(HasMetadata object) {
    if (!"kept".equals(object.getMetadata().getLabels().remove(MINE))) {
      throw new AssertionError("label of others lost on " + object);
    }
    boolean kept =
        switch (object) {
          case DaemonSet set -> leave(set.getSpec().getTemplate().getSpec());
          case Deployment deployment -> leave(deployment.getSpec().getTemplate().getSpec());
          case Service service -> {
            List<ServicePort> ports = service.getSpec().getPorts();
            ports.stream()
                .filter(port -> NAMED.equals(port.getName()))
                .forEach(port -> port.setName(null));
            yield ports.removeIf(port -> MINE.equals(port.getName()));
          }
          case Secret secret -> secret.getData().remove(MINE) != null;
          default -> true;
        };
    if (!kept) {
      throw new AssertionError("what others may add was lost on " + object);
    }
    return object;
  }

  private static boolean leave(PodSpec pod) {
    return pod.getContainers().removeIf(container -> container.getName().equals(MINE));
  }

  private static Subject subject() {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(MINE)
        .withNamespace("default")
        .build();
  }

  private static <T> List<T> with(List<T> list, T more) {
    var result = new ArrayList<>(list);
    result.add(more);
    return result;
  }

  private static Map<String, String> with(Map<String, String> map) {
    Map<String, String> result = map == null ? new HashMap<>() : new HashMap<>(map);
    result.put(MINE, "yes");
    return result;
  }
}
