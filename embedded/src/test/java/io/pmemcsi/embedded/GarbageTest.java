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

  private void delete(String path, String policy) throws Exception {
    Http.Answer answer =
        http.send("DELETE", path + "?propagationPolicy=" + policy, "application/json", "");
    assertThat(answer.code()).isEqualTo(200);
  }

  private void removeFinalizers(String name) throws Exception {
    http.send(
        "PATCH",
        MAPS + "/" + name,
        "application/merge-patch+json",
        "{\"metadata\":{\"finalizers\":null}}");
  }

  @Test
  void whatTheOwnerOwnsGoesWithItDownToTheLastGeneration() throws Exception {
    create("owner", "", "");
    create("child", "owner", "");
    create("grandchild", "child", "");
    create("stranger", "", "");

    delete(MAPS + "/owner", "Background");

    assertThat(http.configMaps()).containsExactly("stranger");
  }

  @Test
  void inTheForegroundTheOwnerWaitsForWhatItOwns() throws Exception {
    create("owner", "", "");
    create("child", "owner", ",\"finalizers\":[\"example.com/hold\"]");

    delete(MAPS + "/owner", "Foreground");

    assertThat(http.configMaps()).containsExactly("child", "owner");

    removeFinalizers("child");

    assertThat(http.configMaps()).isEmpty();
  }

  @Test
  void orphansStayAndForgetTheirOwner() throws Exception {
    create("owner", "", "");
    create("child", "owner", "");

    delete(MAPS + "/owner", "Orphan");

    assertThat(http.configMaps()).containsExactly("child");
    assertThat(http.get(MAPS + "/child").body().at("/metadata/ownerReferences").isMissingNode())
        .isTrue();
  }

  @Test
  void aNamespaceThatEndsIsEmptiedAndTakesNothingNew() throws Exception {
    create("held", "", ",\"finalizers\":[\"example.com/hold\"]");
    create("free", "", "");

    delete("/api/v1/namespaces/default", "Background");

    assertThat(http.configMaps()).containsExactly("held");
    assertThat(http.createConfigMap("late").code()).isEqualTo(403);

    removeFinalizers("held");

    assertThat(http.get("/api/v1/namespaces/default").code()).isEqualTo(404);
    assertThat(http.createConfigMap("later").code()).isEqualTo(404);
  }
}
