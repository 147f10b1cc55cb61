package io.pmemcsi.controller.extender;

import static io.pmemcsi.controller.volume.KnownVolumes.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.capacity.FreeCapacity;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.https.Response;
import io.pmemcsi.controller.volume.KnownVolumes;
import io.pmemcsi.controller.volume.VolumeNeeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerExtenderTest {

  private static final long GIB = 1L << 30;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final NodeCapacities.Freshness FRESH =
      new NodeCapacities.Freshness() {
        @Override
        public Duration age(Instant observed, Instant now) {
          return Duration.ZERO;
        }

        @Override
        public String remedy() {
          return "";
        }
      };

  private final KnownVolumes known = new KnownVolumes();
  private final NodeCapacities capacities = new NodeCapacities();
  private final SchedulerExtender extender =
      new SchedulerExtender(
          new VolumeNeeds(new DriverName(DRIVER), known), capacities, FRESH, Clock.systemUTC());

  @Test
  void nodesAreFilteredByName() throws IOException {
    known.claim("data", 4 * GIB);
    observe("n1", 8 * GIB);
    observe("n2", 2 * GIB);

    JsonNode result =
        filter(
            """
            {"Pod": {"metadata": {"name": "web", "namespace": "default", "uid": "u1"},
                     "spec": {"containers": [{"name": "c", "image": "i"}],
                              "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}},
                                          {"name": "w", "emptyDir": {}}]}},
             "Nodes": null, "NodeNames": ["n1", "n2", "n3"]}
            """);

    assertThat(result.get("NodeNames")).hasToString("[\"n1\"]");
    assertThat(result.get("FailedNodes").get("n2").asText())
        .isEqualTo("only 2GiB of PMEM available, need 4GiB");
    assertThat(result.get("FailedNodes").get("n3").asText())
        .isEqualTo("only 0B of PMEM available, need 4GiB");
    assertThat(result.has("Error")).isFalse();
  }

  @Test
  void keysInLowerCaseAndInlineVolumesAreUnderstood() throws IOException {
    observe("n1", 8 * GIB);

    JsonNode result =
        filter(
            """
            {"pod": {"metadata": {"name": "web"}, "spec": {"volumes": [
               {"name": "v", "csi": {"driver": "pmem-csi.intel.com", "volumeAttributes": {"size": "9Gi"}}}]}},
             "nodenames": ["n1"]}
            """);

    assertThat(result.get("FailedNodes").get("n1").asText())
        .isEqualTo("only 8GiB of PMEM available, need 9GiB");
  }

  @Test
  void aPodThatNeedsNothingPassesEverywhere() throws IOException {
    JsonNode result =
        filter("{\"Pod\": {\"metadata\": {\"name\": \"p\"}}, \"NodeNames\": [\"a\", \"b\"]}");

    assertThat(result.get("NodeNames")).hasToString("[\"a\",\"b\"]");
  }

  @Test
  void wholeNodesAreReturnedAsTheyCame() throws IOException {
    known.claim("data", 4 * GIB);
    observe("n1", 8 * GIB);

    JsonNode result =
        filter(
            """
            {"Pod": {"metadata": {"name": "web", "namespace": "default"}, "spec": {
               "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec":
                  {"storageClassName": "pmem-late", "resources": {"requests": {"storage": "1Gi"}}}}}}]}},
             "Nodes": {"metadata": {"resourceVersion": "5"}, "items": [
               {"metadata": {"name": "n2", "labels": {"a": "b"}}},
               {"metadata": {"name": "n1", "labels": {"ä": "ö"}}, "status": {"x": [1, {"y": 2}]}}]}}
            """);

    assertThat(result.get("Nodes").get("items"))
        .hasToString(
            "[{\"metadata\":{\"name\":\"n1\",\"labels\":{\"ä\":\"ö\"}},\"status\":{\"x\":[1,{\"y\":2}]}}]");
    assertThat(result.get("FailedNodes").has("n2")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "null",
        "[]",
        "{\"Pod\": null, \"NodeNames\": [\"a\"]}",
        "{\"Pod\": {\"metadata\": {}}, \"NodeNames\": [\"a\"]}",
        "{\"Pod\": {\"metadata\": {\"name\": \"p\"}}}",
        "{\"Pod\": {\"metadata\": {\"name\": \"p\"}}, \"NodeNames\": null, \"Nodes\": null}",
      })
  void missingPartsAreAnErrorInTheAnswer(String request) throws IOException {
    assertThat(filter(request).get("Error").asText()).isEqualTo("incomplete parameters");
    assertThat(extender.prioritize(bytes(request)).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"Pod\": {\"metadata\": {\"name\": 5",
        "{\"Pod\": {\"metadata\": [1]}, \"NodeNames\": []}",
        "not json",
        "{\"Pod\": {\"spec\": {\"volumes\": \"x\"}}}",
      })
  void brokenJsonIsAnErrorInTheAnswer(String request) throws IOException {
    assertThat(filter(request).get("Error").asText()).isNotBlank().doesNotContain("\n");
  }

  @Test
  void anUnknownClaimIsAnErrorInTheAnswer() throws IOException {
    assertThat(
            filter(
                    """
                    {"Pod": {"metadata": {"name": "web", "namespace": "default"}, "spec": {
                       "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "nothing"}}]}},
                     "NodeNames": ["n1"]}
                    """)
                .get("Error")
                .asText())
        .startsWith("look up claim: ");
  }

  @Test
  void prioritiesAreScoresByHost() throws IOException {
    known.claim("data", 2 * GIB);
    observe("n1", 12 * GIB);
    observe("n2", 7 * GIB);

    Response response =
        extender.prioritize(
            bytes(
                """
                {"Pod": {"metadata": {"name": "web", "namespace": "default", "uid": "u1"}, "spec": {
                   "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}},
                 "NodeNames": ["n2", "n1"]}
                """));

    assertThat(JSON.readTree(response.body()))
        .hasToString("[{\"Host\":\"n2\",\"Score\":5},{\"Host\":\"n1\",\"Score\":10}]");
  }

  /** The names are read and written without a parser where that is possible. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "[ ]",
        "[\"n1\"]",
        "[\"n1\",\"n2\",\"n3\"]",
        "[ \"n1\" ,\n\t\"n2\"\r]",
        "[\"n\\u0031\", \"n2\"]",
        "[\"\", \"n2\", \"n1\"]",
        "[\"ä\", \"n1\"]",
        "[\"a\\\"b\", \"n1\"]",
      })
  void allFormsOfNamesAreUnderstood(String names) throws IOException {
    known.claim("data", 2 * GIB);
    observe("n1", 12 * GIB);
    observe("n2", 7 * GIB);
    String request =
        """
        {"Pod": {"metadata": {"name": "web", "namespace": "default", "uid": "u1"}, "spec": {
           "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}},
         "NodeNames": %s, "Other": 1}
        """
            .formatted(names);
    List<String> asked = new ArrayList<>();
    JSON.readTree(names).forEach(name -> asked.add(name.asText()));

    JsonNode result = filter(request);
    JsonNode scores = JSON.readTree(extender.prioritize(bytes(request)).body());

    List<String> passed = new ArrayList<>();
    result.get("NodeNames").forEach(name -> passed.add(name.asText()));
    assertThat(passed)
        .containsExactlyElementsOf(asked.stream().filter(name -> name.matches("n[12]")).toList());
    assertThat(result.get("FailedNodes").size()).isEqualTo(asked.size() - passed.size());
    assertThat(scores)
        .extracting(score -> score.get("Host").asText())
        .containsExactlyElementsOf(asked);
    assertThat(scores)
        .filteredOn(score -> score.get("Host").asText().equals("n1"))
        .allSatisfy(score -> assertThat(score.get("Score").asInt()).isEqualTo(10));
  }

  /** A scheduler asks for the priorities of the nodes that passed, after or without a filter. */
  @Test
  void prioritiesOfTheNodesThatPassedAreThoseOfEachNode() throws IOException {
    known.claim("data", 2 * GIB);
    List<String> names = IntStream.range(0, 300).mapToObj("node-%03d"::formatted).toList();
    for (int i = 0; i < names.size(); i++) {
      observe(names.get(i), (i % 30 + 1) * GIB);
    }
    String request =
        """
        {"Pod": {"metadata": {"name": "web", "namespace": "default", "uid": "u1"}, "spec": {
           "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}},
         "NodeNames": %s}
        """;
    String without =
        new String(
            extender.prioritize(bytes(request.formatted(JSON.valueToTree(names)))).body(),
            StandardCharsets.UTF_8);
    JsonNode passed =
        filter(request.formatted(JSON.valueToTree(names.reversed()))).get("NodeNames");
    JsonNode scores = JSON.readTree(extender.prioritize(bytes(request.formatted(passed))).body());

    assertThat(passed).hasSize(290);
    assertThat(scores).hasSize(290).allSatisfy(score -> assertThat(without).contains("" + score));
  }

  private void observe(String node, long bytes) {
    capacities.observe(node, new FreeCapacity(bytes, bytes), Instant.now());
  }

  private JsonNode filter(String request) throws IOException {
    Response response = extender.filter(bytes(request));
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.contentType()).isEqualTo("application/json");
    return JSON.readTree(response.body());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
