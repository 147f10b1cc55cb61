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
 * Acts as another field manager that adds and removes values: permissions, selectors, arguments and
 * ownership labels, which the operator reverts, and labels, containers and ports, which it keeps.
 */
final class ExtraFieldInjector {

  private static final String EXTRA = "extra";
  private static final int PORT = 4711;

  /** A name for unnamed ports, which the API requires once there are two. */
  private static final String NAMED = "extra-name";

  private ExtraFieldInjector() {}

  static HasMetadata inject(HasMetadata object) {
    var metadata = object.getMetadata();
    metadata.getLabels().put(EXTRA, "kept");
    metadata.getLabels().remove("pmem-csi.intel.com/owner-uid");
    metadata.getAnnotations().remove("pmem-csi.intel.com/owner");
    switch (object) {
      case DaemonSet set -> inject(set.getSpec().getTemplate().getSpec());
      case Deployment deployment -> inject(deployment.getSpec().getTemplate().getSpec());
      case Service service -> {
        service.getSpec().setSelector(with(service.getSpec().getSelector()));
        service
            .getSpec()
            .setPorts(
                with(
                    service.getSpec().getPorts(),
                    new ServicePortBuilder()
                        .withName(EXTRA)
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
        secret.getData().put(EXTRA, TlsSecrets.encoded(EXTRA));
      }
      case Role role -> role.setRules(inject(role.getRules()));
      case ClusterRole role -> role.setRules(inject(role.getRules()));
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
        first.getObjectSelector().setMatchLabels(Map.of(EXTRA, "yes"));
      }
      default -> {
        // the spec of a CSIDriver never changes, and a ServiceAccount has only its labels
      }
    }
    return object;
  }

  /** Adds one permission and removes another. */
  private static List<PolicyRule> inject(List<PolicyRule> rules) {
    return with(
        rules.subList(1, rules.size()),
        new PolicyRuleBuilder()
            .withApiGroups("")
            .withResources("secrets")
            .withVerbs("get", "list")
            .build());
  }

  private static void inject(PodSpec pod) {
    var first = pod.getContainers().getFirst();
    first.setArgs(with(first.getArgs(), "-" + EXTRA));
    first.setVolumeMounts(List.of());
    List<Toleration> tolerations = pod.getTolerations() == null ? List.of() : pod.getTolerations();
    pod.setTolerations(
        with(tolerations, new TolerationBuilder().withKey(EXTRA).withOperator("Exists").build()));
    pod.setNodeSelector(with(pod.getNodeSelector()));
    pod.setContainers(
        with(pod.getContainers(), new ContainerBuilder().withName(EXTRA).withImage(EXTRA).build()));
  }

  /** Removes the fields that the operator must keep; fails if one is missing. */
  static HasMetadata removeKeptFields(HasMetadata object) {
    if (!"kept".equals(object.getMetadata().getLabels().remove(EXTRA))) {
      throw new AssertionError("label of another manager lost on  " + object);
    }
    boolean kept =
        switch (object) {
          case DaemonSet set -> removeKeptFields(set.getSpec().getTemplate().getSpec());
          case Deployment deployment ->
              removeKeptFields(deployment.getSpec().getTemplate().getSpec());
          case Service service -> {
            List<ServicePort> ports = service.getSpec().getPorts();
            ports.stream()
                .filter(port -> NAMED.equals(port.getName()))
                .forEach(port -> port.setName(null));
            yield ports.removeIf(port -> EXTRA.equals(port.getName()));
          }
          case Secret secret -> secret.getData().remove(EXTRA) != null;
          default -> true;
        };
    if (!kept) {
      throw new AssertionError("field of another manager lost on  " + object);
    }
    return object;
  }

  private static boolean removeKeptFields(PodSpec pod) {
    return pod.getContainers().removeIf(container -> container.getName().equals(EXTRA));
  }

  private static Subject subject() {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(EXTRA)
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
    result.put(EXTRA, "yes");
    return result;
  }
}
