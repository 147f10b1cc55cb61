package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CompactStoreTest {

  private final CompactStore<ConfigMap> store =
      new CompactStore<>(ConfigMap.class, new KubernetesSerialization());

  @Test
  void storedObjectsAreReturnedUnchanged() {
    ConfigMap one = map("1");
    String key = store.getKey(one);

    assertThat(key).isEqualTo("ns/name");
    assertThat(store.put(key, one)).isNull();
    assertThat(store.get(key)).isEqualTo(one).isNotSameAs(one);
    assertThat(store.values()).containsExactly(one);
    assertThat(store.keySet()).containsExactly(key);
    assertThat(store.size()).isEqualTo(1);
  }

  @Test
  void previousObjectIsReturned() {
    store.put("ns/name", map("1"));

    assertThat(store.put("ns/name", map("2"))).isEqualTo(map("1"));
    assertThat(store.remove("ns/name")).isEqualTo(map("2"));
    assertThat(store.remove("ns/name")).isNull();
    assertThat(store.get("ns/name")).isNull();
  }

  private static ConfigMap map(String value) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName("name")
        .withNamespace("ns")
        .endMetadata()
        .withData(Map.of("ä", value))
        .build();
  }
}
