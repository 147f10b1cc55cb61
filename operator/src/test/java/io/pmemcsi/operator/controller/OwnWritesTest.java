package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import org.junit.jupiter.api.Test;

class OwnWritesTest {

  private final OwnWrites<ConfigMap> writes = new OwnWrites<>();

  @Test
  void cacheIsOutdatedUntilItHasTheLastWrite() {
    writes.record(resource("uid", "100"));

    assertThat(writes.isOutdated(resource("uid", "99"))).isTrue();
    assertThat(writes.isOutdated(resource("uid", "100"))).isFalse();
    assertThat(writes.isOutdated(resource("uid", "101"))).isFalse();
  }

  @Test
  void olderWriteDoesNotReplaceANewerOne() {
    writes.record(resource("uid", "100"));
    writes.record(resource("uid", "20"));

    assertThat(writes.isOutdated(resource("uid", "30"))).isTrue();
  }

  @Test
  void otherAndDeletedResourcesHaveNoWrites() {
    writes.record(resource("uid", "100"));

    assertThat(writes.isOutdated(resource("other", "1"))).isFalse();
    writes.forget(resource("uid", "100"));
    assertThat(writes.isOutdated(resource("uid", "1"))).isFalse();
  }

  private static ConfigMap resource(String uid, String version) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName("any")
        .withUid(uid)
        .withResourceVersion(version)
        .endMetadata()
        .build();
  }
}
