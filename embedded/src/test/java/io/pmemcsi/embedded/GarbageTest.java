package io.pmemcsi.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GarbageTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";

  private EmbeddedKubernetes kubernetes;
  private Http http;

  @BeforeEach
  void start() {
    kubernetes = EmbeddedKubernetes.start();
    http = new Http(kubernetes.url());
  }

  @AfterEach
  void stop() {
    kubernetes.close();
  }

  private String create(String name, String owner, String more) throws Exception {
    String references =
        owner.isEmpty()
            ? ""
            : """
            ,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"%s","uid":"%s",
            "blockOwnerDeletion":true}]
            """
                .formatted(owner, uid(owner));
    Http.Answer answer =
        http.send(
            "POST",
            MAPS,
            "application/json",
            "{\"metadata\":{\"name\":\"%s\"%s%s}}".formatted(name, references, more));
    assertThat(answer.code()).isEqualTo(201);
    return name;
  }

  private String uid(String name) throws Exception {
    return http.get(MAPS + "/" + name).body().at("/metadata/uid").asText();
  }

  private int delete(String path, String policy) throws Exception {
    return http.send("DELETE", path + "?propagationPolicy=" + policy, "application/json", "")
        .code();
  }

  private void removeFinalizers(String name) throws Exception {
    http.send(
        "PATCH",
        MAPS + "/" + name,
        "application/merge-patch+json",
        "{\"metadata\":{\"finalizers\":null}}");
  }

  @Test
  void dependentsAreDeletedWithTheirOwnerTransitively() throws Exception {
    create("owner", "", "");
    create("child", "owner", "");
    create("grandchild", "child", "");
    create("unrelated", "", "");

    delete(MAPS + "/owner", "Background");

    assertThat(http.configMaps()).containsExactly("unrelated");
  }

  @Test
  void objectOfTwoOwnersLosesOnlyTheReference() throws Exception {
    create("one", "", "");
    create("two", "", "");
    create("child", "one", "");
    http.send(
        "PATCH",
        MAPS + "/child",
        "application/json-patch+json",
        """
        [{"op": "add", "path": "/metadata/ownerReferences/-", "value":
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "two", "uid": "%s"}}]
        """
            .formatted(uid("two")));

    delete(MAPS + "/one", "Background");

    assertThat(http.configMaps()).containsExactly("child", "two");
    assertThat(http.get(MAPS + "/child").body().at("/metadata/ownerReferences")).hasSize(1);
    delete(MAPS + "/two", "Background");
    assertThat(http.configMaps()).isEmpty();
  }

  @Test
  void objectWithFinalizerWaitsForItsRemoval() throws Exception {
    create("owner", "", "");
    create("child", "owner", ",\"finalizers\":[\"example.com/hold\"]");

    delete(MAPS + "/owner", "Background");

    assertThat(http.configMaps()).containsExactly("child");
    assertThat(http.get(MAPS + "/child").body().at("/metadata/deletionTimestamp").asText())
        .isNotEmpty();
    removeFinalizers("child");
    assertThat(http.configMaps()).isEmpty();
  }

  @Test
  void inTheForegroundTheOwnerWaitsForItsDependents() throws Exception {
    create("owner", "", "");
    create("child", "owner", ",\"finalizers\":[\"example.com/hold\"]");

    delete(MAPS + "/owner", "Foreground");

    assertThat(http.configMaps()).containsExactly("child", "owner");
    removeFinalizers("child");
    assertThat(http.configMaps()).isEmpty();
  }

  @Test
  void orphaningIsRefused() throws Exception {
    create("owner", "", "");

    assertThat(delete(MAPS + "/owner", "Orphan")).isEqualTo(501);
    assertThat(http.configMaps()).containsExactly("owner");
  }

  @Test
  void deletionOfANamespaceIsRefused() throws Exception {
    assertThat(delete("/api/v1/namespaces/default", "Background")).isEqualTo(501);
  }
}
