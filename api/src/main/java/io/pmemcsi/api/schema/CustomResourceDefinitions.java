package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The CRDs that this program was built with, the same as in deploy/crd. */
public final class CustomResourceDefinitions {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  private CustomResourceDefinitions() {}

  /** The CRD of a kind. */
  public static CustomResourceDefinition of(Class<? extends CustomResource<?, ?>> kind) {
    return YAML.unmarshal(read(kind), CustomResourceDefinition.class);
  }

  /** The name of the file with the CRD of a kind. */
  public static String fileName(Class<? extends CustomResource<?, ?>> kind) {
    return "%s_%s.yaml".formatted(HasMetadata.getGroup(kind), HasMetadata.getPlural(kind));
  }

  static JsonNode schema(Class<? extends CustomResource<?, ?>> kind) {
    return YAML.unmarshal(read(kind), JsonNode.class).at("/spec/versions/0/schema/openAPIV3Schema");
  }

  private static String read(Class<? extends CustomResource<?, ?>> kind) {
    String file = "/io/pmemcsi/api/crd/" + fileName(kind);
    try (InputStream in = CustomResourceDefinitions.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing in this program: build it again");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
