package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.util.function.UnaryOperator;

/** Edits that are retried on a conflict with another writer. */
final class Edits {

  private Edits() {}

  static <T> void edit(Resource<T> resource, UnaryOperator<T> change) {
    await()
        .ignoreExceptionsMatching(
            e ->
                e instanceof KubernetesClientException failure
                    && failure.getCode() == HttpURLConnection.HTTP_CONFLICT)
        .until(
            () -> {
              resource.edit(change);
              return true;
            });
  }
}
