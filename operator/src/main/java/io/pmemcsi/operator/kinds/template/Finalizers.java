package io.pmemcsi.operator.kinds.template;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps a resource until its objects are gone. The documented name has no path, which today's
 * servers take for custom resources with a warning; one that refuses it gets the name with a path.
 */
final class Finalizers {

  private static final int UNPROCESSABLE = 422;
  private static final List<String> OURS =
      List.of(CSIDriverDeployment.FINALIZER, CSIDriverDeployment.FINALIZER + "/driver");

  private Finalizers() {}

  static boolean has(CSIDriverDeployment resource) {
    return resource.getMetadata().getFinalizers().stream().anyMatch(OURS::contains);
  }

  /** The resource with its finalizer; without one nothing may be made for it. */
  static CSIDriverDeployment add(CSIDriverDeployment resource, KubernetesClient client) {
    if (has(resource)) {
      return resource;
    }
    try {
      return patch(resource, with(resource, OURS.getFirst()), client);
    } catch (KubernetesClientException e) {
      if (e.getCode() != UNPROCESSABLE) {
        throw e;
      }
      return patch(resource, with(resource, OURS.getLast()), client);
    }
  }

  static void remove(CSIDriverDeployment resource, KubernetesClient client) {
    List<String> left =
        resource.getMetadata().getFinalizers().stream()
            .filter(finalizer -> !OURS.contains(finalizer))
            .toList();
    try {
      patch(resource, left, client);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  private static List<String> with(CSIDriverDeployment resource, String finalizer) {
    var all = new ArrayList<>(resource.getMetadata().getFinalizers());
    all.add(finalizer);
    return all;
  }

  /** With the version that was looked at, so that no finalizer of somebody else gets lost. */
  private static CSIDriverDeployment patch(
      CSIDriverDeployment resource, List<String> finalizers, KubernetesClient client) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = patch.putObject("metadata");
    metadata.put("resourceVersion", resource.getMetadata().getResourceVersion());
    metadata.put("uid", resource.getMetadata().getUid());
    var list = metadata.putArray("finalizers");
    finalizers.forEach(list::add);
    return client.resource(resource).patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
  }
}
