package io.pmemcsi.app.taint;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.json.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * The taint with which an administrator or an autoscaler creates nodes, whatever its value and
 * effect: {@code <driver name>/agent-not-ready}.
 */
record StartupTaint(DriverName driver) {

  /** What to do next. */
  sealed interface Step {
    /** The node has no such taint, or no longer. */
    record Done() implements Step {}

    /** The driver is not ready for pods yet. */
    record Wait(String why) implements Step {}

    /** Remove it with this JSON patch, which fails if the node has changed since it was read. */
    record Patch(String json) implements Step {}
  }

  String key() {
    return driver.startupTaint();
  }

  /**
   * Decides.
   *
   * @param node the Node
   * @param csiNode the CSINode of the same name, where kubelet lists the drivers that it knows
   */
  Step next(Json node, Json csiNode) {
    List<Json> taints = node.path("spec").path("taints").elements();
    List<Integer> ours = new ArrayList<>();
    for (int i = 0; i < taints.size(); i++) {
      if (taints.get(i).path("key").asText().equals(key())) {
        ours.addFirst(i); // from the last one, so that the others keep their places
      }
    }
    if (ours.isEmpty()) {
      return new Step.Done();
    }
    boolean registered =
        csiNode.path("spec").path("drivers").elements().stream()
            .anyMatch(known -> known.path("name").asText().equals(driver.value()));
    return registered
        ? new Step.Patch(patch(node.path("metadata").path("resourceVersion").asText(), ours))
        : new Step.Wait("kubelet has not registered the driver yet");
  }

  private static String patch(String resourceVersion, List<Integer> places) {
    StringBuilder patch = new StringBuilder("[");
    patch.append(
        "{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"}"
            .formatted(resourceVersion));
    places.forEach(
        place ->
            patch.append(",{\"op\":\"remove\",\"path\":\"/spec/taints/%d\"}".formatted(place)));
    return patch.append("]").toString();
  }
}
