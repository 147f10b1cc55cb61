package io.pmemcsi.controller.webhook;

import static io.pmemcsi.controller.volume.KnownVolumes.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.https.Response;
import io.pmemcsi.controller.volume.KnownVolumes;
import io.pmemcsi.controller.volume.VolumeNeeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodWebhookTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String INLINE =
      "{\"name\": \"v\", \"csi\": {\"driver\": \"pmem-csi.intel.com\"}}";

  private final KnownVolumes known = new KnownVolumes();
  private final PodWebhook webhook =
      new PodWebhook(
          new DriverName(DRIVER), new VolumeNeeds(new DriverName(DRIVER), known), _ -> {});

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}"
            + "| [{'op':'add','path':'R','value':{}},"
            + "{'op':'add','path':'R/requests','value':{'pmem-csi.intel.com/scheduler':'1'}},"
            + "{'op':'add','path':'R/limits','value':{'pmem-csi.intel.com/scheduler':'1'}}]",
        "{'resources': {'requests': {'cpu': '1'}}}"
            + "| [{'op':'add','path':'R/requests/pmem-csi.intel.com~1scheduler','value':'1'},"
            + "{'op':'add','path':'R/limits','value':{'pmem-csi.intel.com/scheduler':'1'}}]",
        "{'resources': {'requests': {'cpu': 1}, 'limits': {'pmem-csi.intel.com/scheduler': '1'}}}"
            + "| [{'op':'add','path':'R/requests/pmem-csi.intel.com~1scheduler','value':'1'},"
            + "{'op':'add','path':'R/limits/pmem-csi.intel.com~1scheduler','value':'1'}]",
      },
      quoteCharacter = '`')
  void theFirstContainerRequestsTheResourceOfTheExtender(String container, String patch)
      throws IOException {
    JsonNode response =
        mutate("", container.replace('\'', '"') + ", {\"name\": \"second\"}", INLINE);

    assertThat(response.get("uid").asText()).isEqualTo("review-1");
    assertThat(response.get("allowed").asBoolean()).isTrue();
    assertThat(response.get("patchType").asText()).isEqualTo("JSONPatch");
    assertThat(new String(response.get("patch").binaryValue(), StandardCharsets.UTF_8))
        .isEqualTo(patch.strip().replace("'R", "'/spec/containers/0/resources").replace('\'', '"'));
  }

  @Test
  void aClaimIsLookedUpInTheNamespaceOfTheRequest() throws IOException {
    known.claim("data", 1 << 20);

    assertThat(
            mutate(
                    "",
                    "{}",
                    "{\"name\": \"v\", \"persistentVolumeClaim\": {\"claimName\": \"data\"}}")
                .has("patch"))
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"name\": \"v\", \"emptyDir\": {}}",
        "{\"name\": \"v\", \"persistentVolumeClaim\": {\"claimName\": \"unknown\"}}",
        "{\"name\": \"v\", \"csi\": {\"driver\": \"other.example.com\"}}",
        "{\"name\": \"v\", \"ephemeral\": {\"volumeClaimTemplate\": {\"spec\": {\"storageClassName\": \"unknown\"}}}}",
        "",
      })
  void otherPodsAreAllowedAsTheyAre(String volume) throws IOException {
    JsonNode response = mutate("", "{}", volume);

    assertThat(response.get("allowed").asBoolean()).isTrue();
    assertThat(response.has("patch")).isFalse();
  }

  @Test
  void thePodsLabelAndAMissingContainerKeepAPodAsItIs() throws IOException {
    assertThat(
            mutate("\"labels\": {\"pmem-csi.intel.com/webhook\": \"ignore\"}", "{}", INLINE)
                .has("patch"))
        .isFalse();
    assertThat(mutate("", "", INLINE).has("patch")).isFalse();
  }

  @Test
  void theReviewHasTheVersionOfTheRequest() throws IOException {
    String request =
        "{\"apiVersion\": \"admission.k8s.io/v1beta1\", \"request\": {\"uid\": \"1\", \"object\": {}}}";

    JsonNode review = JSON.readTree(webhook.mutate(bytes(request)).body());

    assertThat(review.get("apiVersion").asText()).isEqualTo("admission.k8s.io/v1beta1");
    assertThat(review.get("kind").asText()).isEqualTo("AdmissionReview");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{\"request\": null}",
        "{\"request\": {\"uid\": \"1\"}}",
        "{\"request\": {\"object\": {}}}",
        "{\"request\": {\"uid\": \"1\", \"object\": {\"spec\": 5}}}",
      })
  void whatIsNoReviewIsABadRequest(String request) {
    Response response = webhook.mutate(bytes(request));

    assertThat(response.status()).isEqualTo(400);
    assertThat(response.body()).isNotEmpty();
  }

  @Test
  void claimsThatCannotBeReadLeaveTheDecisionToTheFailurePolicy() {
    var failing =
        new PodWebhook(
            new DriverName(DRIVER),
            new VolumeNeeds(new DriverName(DRIVER), known),
            _ -> {
              throw new IOException("no answer");
            });

    assertThat(failing.mutate(bytes(review("", "{}", INLINE))).status()).isEqualTo(500);
    assertThat(failing.mutate(bytes(review("", "{}", ""))).status()).isEqualTo(200);
  }

  private JsonNode mutate(String metadata, String containers, String volumes) throws IOException {
    Response response = webhook.mutate(bytes(review(metadata, containers, volumes)));
    assertThat(response.status()).isEqualTo(200);
    return JSON.readTree(response.body()).get("response");
  }

  private static String review(String metadata, String containers, String volumes) {
    return """
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
      "uid": "review-1", "kind": {"kind": "Pod"}, "namespace": "default", "operation": "CREATE",
      "object": {"metadata": {%s}, "spec": {"containers": [%s], "volumes": [%s]}}}}
    """
        .formatted(metadata, containers, volumes);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
