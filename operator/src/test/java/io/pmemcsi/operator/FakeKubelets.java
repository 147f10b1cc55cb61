package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINodeSpecBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Fake kubelets that register a driver: they update CSINode objects to match its pods. */
final class FakeKubelets {

  private final KubernetesClient client;
  private final String driver;
  private final Map<String, String> registered = new HashMap<>();

  FakeKubelets(KubernetesClient client, String driver) {
    this.client = client;
    this.driver = driver;
  }

  /** As kubelet does: it removes the entry of the previous pod before it adds the next one. */
  void see(String node, Optional<String> pod) {
    Optional<String> known = Optional.ofNullable(registered.get(node));
    if (known.isPresent() && !known.equals(pod)) {
      editDrivers(
          node, spec -> spec.removeMatchingFromDrivers(one -> driver.equals(one.getName())));
      registered.remove(node);
    }
    if (pod.isPresent() && !known.equals(pod)) {
      editDrivers(
          node,
          spec ->
              spec.removeMatchingFromDrivers(one -> driver.equals(one.getName()))
                  .addNewDriver()
                  .withName(driver)
                  .withNodeID(node)
                  .endDriver());
      registered.put(node, pod.get());
    }
  }

  private void editDrivers(String node, UnaryOperator<CSINodeSpecBuilder> edit) {
    var kept = client.storage().v1().csiNodes().withName(node);
    if (kept.get() == null) {
      // with an owner reference, as kubelet sets one: otherwise the server drops managedFields
      // when the last driver is removed
      client
          .resource(
              new CSINodeBuilder()
                  .withNewMetadata()
                  .withName(node)
                  .withOwnerReferences(
                      new OwnerReferenceBuilder()
                          .withApiVersion("v1")
                          .withKind("Node")
                          .withName(node)
                          .withUid(client.nodes().withName(node).get().getMetadata().getUid())
                          .build())
                  .endMetadata()
                  .withSpec(edit.apply(new CSINodeSpecBuilder()).build())
                  .build())
          .create();
      return;
    }
    Edits.edit(
        kept,
        found ->
            new CSINodeBuilder(found)
                .withSpec(edit.apply(new CSINodeSpecBuilder(found.getSpec())).build())
                .build());
  }
}
