package io.pmemcsi.operator.controller;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps a resource until its objects are deleted. JOSDK's own finalizer is not used: it does not
 * call {@code updateErrorStatus} for errors during a deletion, and takes only names with a path,
 * which the documented one of some kinds has not. A server that refuses a name without a path gets
 * the next name of the list.
 */
record Finalizers<R extends HasMetadata>(List<String> names) {

  private static final int UNPROCESSABLE = 422;

  /** Set by the API server when a user deletes in the foreground: objects before the resource. */
  private static final String FOREGROUND = "foregroundDeletion";

  boolean on(R resource) {
    return resource.getMetadata().getFinalizers().stream().anyMatch(names::contains);
  }

  /** The resource with its finalizer; without one nothing may be created for it. */
  R add(R resource, Context<R> context) {
    if (on(resource)) {
      return resource;
    }
    KubernetesClientException refusal = null;
    for (String name : names) {
      try {
        var all = new ArrayList<>(resource.getMetadata().getFinalizers());
        all.add(name);
        R updated = patch(resource, all, context.getClient());
        context
            .eventSourceRetriever()
            .getControllerEventSource()
            .handleRecentResourceUpdate(ResourceID.fromResource(resource), updated, resource);
        return updated;
      } catch (KubernetesClientException e) {
        if (e.getCode() != UNPROCESSABLE) {
          throw e;
        }
        refusal = e;
      }
    }
    throw new KubernetesClientException("the server takes no finalizer of " + names, refusal);
  }

  void remove(R resource, KubernetesClient client) {
    List<String> left =
        resource.getMetadata().getFinalizers().stream()
            .filter(finalizer -> !names.contains(finalizer))
            .toList();
    try {
      patch(resource, left, client);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  /**
   * While volumes block the deletion, the objects must stay: deleted in the foreground, the garbage
   * collector would delete them before the resource, whatever its finalizers.
   */
  void deleteInBackground(R resource, KubernetesClient client) {
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

  /** With the observed version, so that no finalizer of another controller gets lost. */
  private static <R extends HasMetadata> R patch(
      R resource, List<String> finalizers, KubernetesClient client) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = patch.putObject("metadata");
    metadata.put("resourceVersion", resource.getMetadata().getResourceVersion());
    metadata.put("uid", resource.getMetadata().getUid());
    var list = metadata.putArray("finalizers");
    finalizers.forEach(list::add);
    return client.resource(resource).patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
  }
}
