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

/** Somebody who edits objects of the operator: what matters most in each kind, and the marks. */
final class Vandal {

  private static final String TRACE = "vandal";

  private Vandal() {}

  static HasMetadata spoil(HasMetadata object) {
    object.getMetadata().getLabels().put("app.kubernetes.io/instance", TRACE);
    object.getMetadata().getLabels().put("mine", "kept");
    object.getMetadata().setOwnerReferences(List.of());
    switch (object) {
      case DaemonSet set -> spoil(set.getSpec().getTemplate().getSpec());
      case Deployment deployment -> spoil(deployment.getSpec().getTemplate().getSpec());
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
        // the spec of a CSIDriver never changes, and a ServiceAccount has nothing but its marks
      }
    }
    return object;
  }

  /** Another image, a label that no node has, and rights that are none of the pod's business. */
  private static void spoil(PodSpec pod) {
    pod.getContainers().getFirst().setImage(TRACE);
    pod.setNodeSelector(Map.of("app", TRACE));
    pod.setServiceAccountName(TRACE);
  }

  private static boolean isSpoilt(PodSpec pod) {
    return pod.getContainers().getFirst().getImage().equals(TRACE)
        || pod.getServiceAccountName().equals(TRACE)
        || (pod.getNodeSelector() != null && pod.getNodeSelector().containsValue(TRACE));
  }

  /** Where an object still shows that he was there. */
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
    boolean spoilt =
        switch (object) {
          case DaemonSet set -> isSpoilt(set.getSpec().getTemplate().getSpec());
          case Deployment deployment -> isSpoilt(deployment.getSpec().getTemplate().getSpec());
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
    if (spoilt) {
      traces.add(object.getKind());
    }
    return traces;
  }
}
