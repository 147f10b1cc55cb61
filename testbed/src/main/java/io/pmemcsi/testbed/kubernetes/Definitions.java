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
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Applies the custom resource definitions of a directory to an API server. */
public final class Definitions {

  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final Duration STEP = Duration.ofMillis(20);

  private Definitions() {}

  /**
   * Returns when the server answers for each of them. A definition is accepted before its kind is
   * served: a request for the kind in between gets "not found".
   */
  public static void install(KubernetesClient client, Path directory) {
    List<CustomResourceDefinition> definitions = read(client, directory);
    definitions.forEach(one -> client.resource(one).createOr(NonDeletingOperation::update));
    awaitServed(client, definitions);
  }

  /** The same for definitions that another client has applied. */
  public static void awaitServed(KubernetesClient client, Path directory) {
    awaitServed(client, read(client, directory));
  }

  /**
   * Returns when the server answers for each of these and lists them: kubectl looks for a kind in
   * these lists, which the server makes later and apart from each other.
   */
  public static void awaitServed(
      KubernetesClient client, Collection<CustomResourceDefinition> definitions) {
    for (CustomResourceDefinition one : definitions) {
      String group = one.getSpec().getGroup();
      String plural = one.getSpec().getNames().getPlural();
      for (CustomResourceDefinitionVersion version : one.getSpec().getVersions()) {
        String path = "/apis/%s/%s".formatted(group, version.getName());
        awaitAnswer(client, path + "/" + plural, "");
        awaitAnswer(client, path, "\"name\":\"%s\"".formatted(plural));
        awaitAnswer(
            client, "/apis", "\"groupVersion\":\"%s/%s\"".formatted(group, version.getName()));
      }
    }
  }

  private static void awaitAnswer(KubernetesClient client, String path, String part) {
    await(path + " " + part)
        .atMost(TIMEOUT)
        .pollDelay(Duration.ZERO)
        .pollInterval(STEP)
        .until(
            () -> {
              // null stands for "not found"
              @Nullable String answer = client.raw(path);
              return answer != null && answer.replace(" ", "").contains(part);
            });
  }

  private static List<CustomResourceDefinition> read(KubernetesClient client, Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(Files::isRegularFile)
          .sorted()
          .map(file -> readOne(client, file))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the definitions in " + directory, e);
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
