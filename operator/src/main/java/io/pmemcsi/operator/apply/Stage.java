package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * The order of writes. Objects of one stage do not depend on each other and are written
 * concurrently; a stage begins when the one before is complete. Deletion has the reverse order.
 */
enum Stage {
  /** Accounts, roles, secrets, services and what else later stages refer to. */
  REFERENCED,
  /** Bindings: the API server checks the role or policy that they refer to. */
  BINDINGS,
  /** Workloads: their pods need accounts with permissions, and secrets. */
  WORKLOADS,
  /** Webhooks: pods must serve them. */
  WEBHOOKS;

  static Stage of(HasMetadata object) {
    return switch (object.getKind()) {
      case "RoleBinding", "ClusterRoleBinding", "ValidatingAdmissionPolicyBinding" -> BINDINGS;
      case "Deployment", "DaemonSet", "StatefulSet" -> WORKLOADS;
      case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration" -> WEBHOOKS;
      default -> REFERENCED;
    };
  }

  /** The items of each stage, in the order in which stages are written. */
  static <T> List<List<T>> inOrder(List<T> items, Function<T, HasMetadata> object) {
    return Arrays.stream(values())
        .map(stage -> items.stream().filter(item -> of(object.apply(item)) == stage).toList())
        .toList();
  }
}
