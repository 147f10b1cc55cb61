package io.pmemcsi.api.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class YamlWriterTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void keysAreInTheUsualOrder() throws JsonProcessingException {
    String yaml =
        write(
            """
            {"kind": "Pod", "spec": {"volumes": [], "containers": [
               {"args": ["-v=3"], "image": "a:1", "name": "main"}]},
             "metadata": {"labels": {"b": "2", "a": "one"}, "namespace": "ns", "name": "pod"},
             "apiVersion": "v1"}
            """);

    assertThat(yaml)
        .isEqualTo(
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: pod
              namespace: ns
              labels:
                a: one
                b: "2"
            spec:
              containers:
              - name: main
                image: a:1
                args:
                - -v=3
              volumes: []
            """);
  }

  @Test
  void keysOfANetworkPolicyAreInTheUsualOrder() throws JsonProcessingException {
    assertThat(
            write(
                """
                {"spec": {"policyTypes": ["Ingress"], "ingress": [{"ports": [{"port": 8080}]}],
                 "podSelector": {"matchLabels": {"app": "a"}}}}
                """))
        .isEqualTo(
            """
            spec:
              podSelector:
                matchLabels:
                  app: a
              policyTypes:
              - Ingress
              ingress:
              - ports:
                - port: 8080
            """);
  }

  @Test
  void aSchemaBeginsWithItsTypeAndHasItsFieldsInAlphabeticalOrder() throws JsonProcessingException {
    assertThat(
            write(
                """
                {"properties": {"image": {"description": "Default: none.", "type": "string"},
                                "affinity": {"type": "object"}},
                 "type": "object"}
                """))
        .isEqualTo(
            """
            type: object
            properties:
              affinity:
                type: object
              image:
                type: string
                description: 'Default: none.'
            """);
  }

  @Test
  void shortListsOfNamesAreOnOneLine() throws JsonProcessingException {
    assertThat(
            write(
                """
                {"verbs": ["get", "list"], "resources": ["pods"], "apiGroups": [""],
                 "hosts": ["a"]}
                """))
        .isEqualTo(
            """
            apiGroups: [""]
            resources: [pods]
            verbs: [get, list]
            hosts:
            - a
            """);
  }

  @Test
  void longTextIsNotFolded() throws JsonProcessingException {
    String word = "word ".repeat(50).strip();

    assertThat(write("{\"a\": \"%s\", \"b\": \"line\\nline\\n\"}".formatted(word)))
        .isEqualTo("a: %s%nb: |%n  line%n  line%n".formatted(word));
  }

  /** What one parser or the other would not take for text. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "~",
        "null",
        "true",
        "False",
        "yes",
        "NO",
        "on",
        "off",
        "y",
        "N",
        "1",
        "-1",
        "1.5",
        ".5",
        "1e3",
        "0x1F",
        "0o17",
        "017",
        "1_000",
        "12:30:45",
        "2026-11-17",
        ".inf",
        "=",
        "<<"
      })
  void textThatLooksLikeSomethingElseIsQuoted(String text) throws JsonProcessingException {
    assertThat(write(JSON.writeValueAsString(JSON.createObjectNode().put("a", text))))
        .isEqualTo("a: \"%s\"\n".formatted(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "100m",
        "250Mi",
        "v1",
        "10.0.0.1",
        "a:1",
        "-v=3",
        "/dev/null",
        "https://a.b/c",
        "1Gi",
        "-nodeSelector={\"storage\":\"pmem\"}",
        "$(NAME)",
        "unix:///csi/csi.sock",
        "tcp:1",
        "east"
      })
  void otherTextIsNot(String text) throws JsonProcessingException {
    assertThat(write(JSON.writeValueAsString(JSON.createObjectNode().put("a", text))))
        .isEqualTo("a: %s\n".formatted(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*", "&a", "!a", "a: b", "a #b", "- a", "{a}", "[a]", "@a", "`a`", "'a'", "\"a\"", " a",
        "a ", "%a", "a\tb", "\u0007", "|", ">", "?", "? a", ":", "a:", "#", "ä", "a\\b", "-", ","
      })
  void everyTextIsReadAsItWas(String text) throws JsonProcessingException {
    JsonNode content =
        JSON.createObjectNode().put("a", text).set("verbs", JSON.createArrayNode().add(text));

    String yaml = YamlWriter.write(content);

    assertThat(new KubernetesSerialization().unmarshal(yaml, JsonNode.class)).isEqualTo(content);
  }

  private static String write(String json) throws JsonProcessingException {
    return YamlWriter.write(JSON.readTree(json));
  }
}
