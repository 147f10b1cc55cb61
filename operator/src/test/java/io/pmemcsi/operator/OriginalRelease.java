package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A release of the original operator, with the objects that it created. */
record OriginalRelease(String version) {

  /**
   * Creates the objects of a resource as that operator did: by plain writes, and owned by the
   * resource.
   */
  void create(KubernetesClient client, String namespace, String prefix, HasMetadata resource)
      throws IOException {
    String name = resource.getMetadata().getName();
    String yaml =
        Files.readString(Path.of("src/test/resources/upgrade/%s.yaml".formatted(version)))
            .replace("NAMESPACE", namespace)
            .replace("PREFIX", prefix)
            .replace("NAME}", name + "}")
            .replace("value: NAME", "value: " + name)
            .replace("/NAME", "/" + name)
            .replace("instance: NAME", "instance: " + name);
    for (HasMetadata object :
        client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items()) {
      own(object, resource);
      post(client, object);
    }
  }

  private static void own(HasMetadata object, HasMetadata resource) {
    object
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion(resource.getApiVersion())
                    .withKind(resource.getKind())
                    .withName(resource.getMetadata().getName())
                    .withUid(resource.getMetadata().getUid())
                    .withController(true)
                    .withBlockOwnerDeletion(true)
                    .build()));
  }

  private static void post(KubernetesClient client, HasMetadata object) {
    String version = object.getApiVersion();
    String namespace = object.getMetadata().getNamespace();
    client.raw(
        "%s/%s%s/%s?fieldManager=pmem-csi-operator"
            .formatted(
                version.contains("/") ? "/apis" : "/api",
                version,
                namespace == null ? "" : "/namespaces/" + namespace,
                object.getPlural()),
        "POST",
        object);
  }
}
