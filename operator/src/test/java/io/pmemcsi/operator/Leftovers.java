package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import java.util.List;
import java.util.stream.Stream;

/** All objects of one driver in a cluster. */
final class Leftovers {

  private Leftovers() {}

  static List<String> of(KubernetesClient client, String namespace, String prefix, String driver) {
    return objects(client, namespace, prefix, driver).stream()
        .map(object -> object.getKind() + " " + object.getMetadata().getName())
        .toList();
  }

  /** Deletes a resource and its objects, also without an operator. */
  static void remove(KubernetesClient client, String namespace, String prefix, String driver) {
    remove(
        client,
        client.resources(PmemCSIDeployment.class).withName(driver),
        namespace,
        prefix,
        driver);
  }

  static <T extends HasMetadata> void remove(
      KubernetesClient client,
      Resource<T> resource,
      String namespace,
      String prefix,
      String driver) {
    resource.delete();
    await()
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(
            () -> {
              if (resource.get() != null) {
                resource.edit(
                    object -> {
                      object.getMetadata().setFinalizers(List.of());
                      return object;
                    });
              }
              return resource.get() == null;
            });
    objects(client, namespace, prefix, driver).forEach(object -> client.resource(object).delete());
  }

  static List<HasMetadata> objects(
      KubernetesClient client, String namespace, String prefix, String driver) {
    return Stream.<List<? extends HasMetadata>>of(
            client.serviceAccounts().inNamespace(namespace).list().getItems(),
            client.services().inNamespace(namespace).list().getItems(),
            client.secrets().inNamespace(namespace).list().getItems().stream()
                .filter(secret -> !"kubernetes.io/service-account-token".equals(secret.getType()))
                .toList(),
            client.network().v1().networkPolicies().inNamespace(namespace).list().getItems(),
            client.apps().deployments().inNamespace(namespace).list().getItems(),
            client.apps().daemonSets().inNamespace(namespace).list().getItems(),
            client.apps().statefulSets().inNamespace(namespace).list().getItems(),
            client.rbac().roles().inNamespace(namespace).list().getItems(),
            client.rbac().roleBindings().inNamespace(namespace).list().getItems(),
            client.rbac().clusterRoles().list().getItems(),
            client.rbac().clusterRoleBindings().list().getItems(),
            client.storage().v1().csiDrivers().list().getItems(),
            client.storage().v1().storageClasses().list().getItems(),
            client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems(),
            client.supports(PodDisruptionBudget.class)
                ? client
                    .policy()
                    .v1()
                    .podDisruptionBudget()
                    .inNamespace(namespace)
                    .list()
                    .getItems()
                // 1.20
                : client
                    .policy()
                    .v1beta1()
                    .podDisruptionBudget()
                    .inNamespace(namespace)
                    .list()
                    .getItems(),
            ifServed(client, ValidatingAdmissionPolicy.class),
            ifServed(client, ValidatingAdmissionPolicyBinding.class))
        .flatMap(List::stream)
        .filter(
            object ->
                object.getMetadata().getName().startsWith(prefix + "-")
                    || object.getMetadata().getName().equals(driver))
        .map(HasMetadata.class::cast)
        .toList();
  }

  private static <T extends HasMetadata> List<T> ifServed(KubernetesClient client, Class<T> type) {
    return client.supports(type) ? client.resources(type).list().getItems() : List.of();
  }
}
