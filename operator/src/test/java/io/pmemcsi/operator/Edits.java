package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.util.function.UnaryOperator;

/** Edits that are retried on a conflict with another writer. */
final class Edits {

  private Edits() {}

  static <T> void edit(Resource<T> resource, UnaryOperator<T> change) {
    retry(() -> resource.edit(change));
  }

  /** Sends the whole object: the patch of {@link #edit} drops empty lists. */
  static <T extends HasMetadata> void replace(
      KubernetesClient client, Resource<T> resource, UnaryOperator<T> change) {
    retry(() -> client.resource(change.apply(resource.get())).update());
  }

  private static void retry(Runnable write) {
    await()
        .ignoreExceptionsMatching(
            e ->
                e instanceof KubernetesClientException failure
                    && failure.getCode() == HttpURLConnection.HTTP_CONFLICT)
        .until(
            () -> {
              write.run();
              return true;
            });
  }
}
