package io.pmemcsi.testbed.kubernetes;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The custom resource definitions of a folder, brought to an API server. */
public final class Definitions {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration STEP = Duration.ofMillis(20);

  private Definitions() {}

  /**
   * Returns when the server answers for each of them. A definition is accepted before its kind is
   * served: whoever asks for the kind in between gets "not found".
   */
  public static void install(KubernetesClient client, Path folder) {
    List<CustomResourceDefinition> definitions = read(client, folder);
    definitions.forEach(one -> client.resource(one).createOr(NonDeletingOperation::update));
    for (CustomResourceDefinition one : definitions) {
      for (CustomResourceDefinitionVersion version : one.getSpec().getVersions()) {
        String path =
            "/apis/%s/%s/%s"
                .formatted(
                    one.getSpec().getGroup(),
                    version.getName(),
                    one.getSpec().getNames().getPlural());
        await(path)
            .atMost(PATIENCE)
            .pollDelay(Duration.ZERO)
            .pollInterval(STEP)
            // null stands for "not found"
            .until(() -> client.raw(path) != null);
      }
    }
  }

  private static List<CustomResourceDefinition> read(KubernetesClient client, Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(Files::isRegularFile)
          .sorted()
          .map(file -> readOne(client, file))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the definitions in " + folder, e);
    }
  }

  private static CustomResourceDefinition readOne(KubernetesClient client, Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return client.getKubernetesSerialization().unmarshal(in, CustomResourceDefinition.class);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the definition " + file, e);
    }
  }
}
