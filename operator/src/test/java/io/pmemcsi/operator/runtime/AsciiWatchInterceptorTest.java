package io.pmemcsi.operator.runtime;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AsciiWatchInterceptorTest {

  private static final String WORDS = "Grüße aus 東京 🙂";

  /** The embedded API does not support WebSockets, like some proxies. */
  @Test
  void watchByHttpContinuesAfterNonAsciiCharacters(@TempDir Path directory) throws Exception {
    try (var kubernetes = EmbeddedKubernetes.start()) {
      Path file = Files.writeString(directory.resolve("kubeconfig"), kubernetes.kubeconfig());
      var access = new KubeconfigContent(file, kubernetes.kubeconfig());
      try (KubernetesClient client = ApiAccess.client(Optional.of(access));
          SharedIndexInformer<ConfigMap> seen = client.configMaps().inform()) {
        await().until(() -> kubernetes.openWatches() == 1);
        for (String name : List.of("one", "two", "three")) {
          client.resource(configMap(name)).create();

          await()
              .untilAsserted(
                  () ->
                      assertThat(seen.getStore().list())
                          .filteredOn(map -> map.getMetadata().getName().equals(name))
                          .singleElement()
                          .extracting(map -> map.getData().get("words"))
                          .isEqualTo(WORDS));
        }
        assertThat(seen.stopped()).isNotDone();
      }
    }
  }

  private static ConfigMap configMap(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withNamespace("default")
        .withName(name)
        .endMetadata()
        .addToData("words", WORDS)
        .build();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 100})
  void characterSplitAcrossChunksIsDecoded(int size) {
    byte[] bytes = (WORDS + "\n").getBytes(UTF_8);
    var escaping = new AsciiWatchInterceptor.Escaping();
    var text = new StringBuilder();

    for (int from = 0; from < bytes.length; from += size) {
      ByteBuffer piece = ByteBuffer.wrap(bytes, from, Math.min(size, bytes.length - from));
      text.append(US_ASCII.decode(escaping.escape(piece)));
    }

    assertThat(text).hasToString("Gr\\u00fc\\u00dfe aus \\u6771\\u4eac \\ud83d\\ude42\n");
  }
}
