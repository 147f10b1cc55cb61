package io.pmemcsi.controller.webhook;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.PodJson;
import org.jspecify.annotations.Nullable;

/** The JSON patch that makes kube-scheduler call the extender for a pod. */
final class PodMutation {

  private static final String RESOURCES = "/spec/containers/0/resources";

  private PodMutation() {}

  /** Requests one unit of {@code DRIVER/scheduler} for the pod's first container. */
  static ArrayNode patch(DriverName driver, PodJson.Container container) {
    ArrayNode patch = JsonNodeFactory.instance.arrayNode();
    PodJson.Resources resources = container.resources();
    if (resources == null) {
      add(patch, RESOURCES).putObject("value");
    }
    // Kubernetes takes extended resources only with equal requests and limits
    set(patch, driver, "requests", resources == null ? null : resources.requests());
    set(patch, driver, "limits", resources == null ? null : resources.limits());
    return patch;
  }

  private static void set(
      ArrayNode patch, DriverName driver, String field, PodJson.@Nullable Amounts present) {
    String resource = driver.schedulerResource();
    String path = RESOURCES + "/" + field;
    if (present == null) {
      add(patch, path).putObject("value").put(resource, "1");
    } else {
      // a slash inside of a name is written as ~1: RFC 6901, section 3
      add(patch, path + "/" + resource.replace("~", "~0").replace("/", "~1")).put("value", "1");
    }
  }

  private static ObjectNode add(ArrayNode patch, String path) {
    return patch.addObject().put("op", "add").put("path", path);
  }
}
