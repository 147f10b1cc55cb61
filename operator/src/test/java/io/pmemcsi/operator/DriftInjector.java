package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Acts as a user who edits the important fields and the labels of owned objects. */
final class DriftInjector {

  private static final String TRACE = "drift";

  private DriftInjector() {}

  static HasMetadata inject(HasMetadata object) {
    object.getMetadata().getLabels().put("app.kubernetes.io/instance", TRACE);
    object.getMetadata().getLabels().put("mine", "kept");
    object.getMetadata().setOwnerReferences(List.of());
    switch (object) {
      case DaemonSet set -> inject(set.getSpec().getTemplate().getSpec());
      case Deployment deployment -> inject(deployment.getSpec().getTemplate().getSpec());
      case Service service -> service.getSpec().setSelector(Map.of("app", TRACE));
      case Secret secret -> secret.getData().replaceAll((key, value) -> TlsSecrets.encoded(TRACE));
      case Role role -> role.getRules().getFirst().setVerbs(List.of(TRACE));
      case ClusterRole role -> role.getRules().getFirst().setVerbs(List.of(TRACE));
      case RoleBinding binding -> binding.getSubjects().getFirst().setName(TRACE);
      case ClusterRoleBinding binding -> binding.getSubjects().getFirst().setName(TRACE);
      case MutatingWebhookConfiguration hook -> {
        hook.getWebhooks().getFirst().getClientConfig().getService().setName(TRACE);
        hook.getWebhooks().getFirst().getObjectSelector().setMatchLabels(Map.of("app", TRACE));
      }
      default -> {
        // the spec of a CSIDriver never changes, and a ServiceAccount has only its labels
      }
    }
    return object;
  }

  /** Sets another image, a label that no node has, and another service account. */
  private static void inject(PodSpec pod) {
    pod.getContainers().getFirst().setImage(TRACE);
    pod.setNodeSelector(Map.of("app", TRACE));
    pod.setServiceAccountName(TRACE);
  }

  private static boolean hasDrift(PodSpec pod) {
    return pod.getContainers().getFirst().getImage().equals(TRACE)
        || pod.getServiceAccountName().equals(TRACE)
        || (pod.getNodeSelector() != null && pod.getNodeSelector().containsValue(TRACE));
  }

  /** The fields that still have an injected value. */
  static List<String> traces(HasMetadata object) {
    var traces = new ArrayList<String>();
    object
        .getMetadata()
        .getLabels()
        .forEach(
            (key, value) -> {
              if (value.equals(TRACE)) {
                traces.add("label " + key);
              }
            });
    boolean drifted =
        switch (object) {
          case DaemonSet set -> hasDrift(set.getSpec().getTemplate().getSpec());
          case Deployment deployment -> hasDrift(deployment.getSpec().getTemplate().getSpec());
          case Service service -> service.getSpec().getSelector().containsValue(TRACE);
          case Secret secret -> secret.getData().containsValue(TlsSecrets.encoded(TRACE));
          case Role role ->
              role.getRules().stream().anyMatch(rule -> rule.getVerbs().contains(TRACE));
          case ClusterRole role ->
              role.getRules().stream().anyMatch(rule -> rule.getVerbs().contains(TRACE));
          case RoleBinding binding ->
              binding.getSubjects().stream().anyMatch(to -> to.getName().equals(TRACE));
          case ClusterRoleBinding binding ->
              binding.getSubjects().stream().anyMatch(to -> to.getName().equals(TRACE));
          case MutatingWebhookConfiguration hook ->
              hook.getWebhooks().getFirst().getClientConfig().getService().getName().equals(TRACE)
                  || hook.getWebhooks().getFirst().getObjectSelector().toString().contains(TRACE);
          default -> false;
        };
    if (drifted) {
      traces.add(object.getKind());
    }
    return traces;
  }
}
