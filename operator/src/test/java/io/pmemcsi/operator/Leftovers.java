package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.stream.Stream;

/** Every object of one driver that is in a cluster. */
final class Leftovers {

  private Leftovers() {}

  static List<String> of(KubernetesClient client, String namespace, String prefix, String driver) {
    return objects(client, namespace, prefix, driver).stream()
        .map(object -> object.getKind() + " " + object.getMetadata().getName())
        .toList();
  }

  static List<HasMetadata> objects(
      KubernetesClient client, String namespace, String prefix, String driver) {
    return Stream.<List<? extends HasMetadata>>of(
            client.serviceAccounts().inNamespace(namespace).list().getItems(),
            client.services().inNamespace(namespace).list().getItems(),
            client.secrets().inNamespace(namespace).list().getItems().stream()
                .filter(secret -> !"kubernetes.io/service-account-token".equals(secret.getType()))
                .toList(),
            client.apps().deployments().inNamespace(namespace).list().getItems(),
            client.apps().daemonSets().inNamespace(namespace).list().getItems(),
            client.rbac().roles().inNamespace(namespace).list().getItems(),
            client.rbac().roleBindings().inNamespace(namespace).list().getItems(),
            client.rbac().clusterRoles().list().getItems(),
            client.rbac().clusterRoleBindings().list().getItems(),
            client.storage().v1().csiDrivers().list().getItems(),
            client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems())
        .flatMap(List::stream)
        .filter(
            object ->
                object.getMetadata().getName().startsWith(prefix + "-")
                    || object.getMetadata().getName().equals(driver))
        .map(HasMetadata.class::cast)
        .toList();
  }
}
