package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** What is particular to a resource that somebody has deleted while its driver is needed. */
public final class BlockedDeletion {

  /** Set by the API server when a user wants the objects to go before the resource. */
  private static final String FOREGROUND = "foregroundDeletion";

  private static final String NAMESPACE_ENDS = "NamespaceTerminating";

  private BlockedDeletion() {}

  /** Deleted in the foreground, objects would go before the resource, and nothing holds them. */
  public static <R extends HasMetadata> void inBackground(R resource, KubernetesClient client) {
    if (resource.getMetadata().getFinalizers().contains(FOREGROUND)) {
      client
          .resource(resource)
          .edit(
              edited -> {
                edited.getMetadata().getFinalizers().remove(FOREGROUND);
                return edited;
              });
    }
  }

  /** Whether nothing can be made because the namespace is being deleted. */
  public static boolean isEndOfNamespace(KubernetesClientException e) {
    var details = e.getStatus() == null ? null : e.getStatus().getDetails();
    return details != null
        && details.getCauses().stream()
            .map(StatusCause::getReason)
            .anyMatch(NAMESPACE_ENDS::equals);
  }
}
