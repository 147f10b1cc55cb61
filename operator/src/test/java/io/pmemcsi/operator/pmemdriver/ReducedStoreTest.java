package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReducedStoreTest {

  private final ReducedStore<Node> nodes = ReducedStore.ofNodes();

  @Test
  void onlyNamesAndLabelsAreKept() {
    Node node =
        new NodeBuilder()
            .withNewMetadata()
            .withName("n1")
            .withUid("u1")
            .withResourceVersion("7")
            .withLabels(Map.of("storage", "pmem"))
            .withAnnotations(Map.of("much", "text"))
            .endMetadata()
            .withNewStatus()
            .addNewImage()
            .withNames("big:image")
            .endImage()
            .endStatus()
            .build();
    String key = nodes.getKey(node);

    assertThat(nodes.put(key, node)).isNull();

    Node kept = Optional.ofNullable(nodes.get(key)).orElseThrow();
    assertThat(kept.getStatus()).isNull();
    assertThat(kept.getMetadata().getAnnotations()).isNullOrEmpty();
    assertThat(kept.getMetadata().getName()).isEqualTo("n1");
    assertThat(kept.getMetadata().getResourceVersion()).isEqualTo("7");
    assertThat(kept.getMetadata().getLabels()).isEqualTo(Map.of("storage", "pmem"));
    assertThat(nodes.values()).containsExactly(kept);
    assertThat(nodes.remove(key)).isEqualTo(kept);
    assertThat(nodes.size()).isZero();
  }
}
