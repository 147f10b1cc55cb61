package io.pmemcsi.controller.webhook;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.https.Response;
import io.pmemcsi.controller.volume.PodJson;
import io.pmemcsi.controller.volume.PodVolumes;
import io.pmemcsi.controller.volume.VolumeNeeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds the extended resource to pods with PMEM volumes so that the scheduler calls the extender for
 * them. Every pod that it can read is allowed; pods without PMEM volumes stay as they are.
 */
public final class PodWebhook {

  private static final String IGNORE = "ignore";

  private static final Logger LOG = LoggerFactory.getLogger(PodWebhook.class);
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private final DriverName driver;
  private final VolumeNeeds needs;
  private final ClaimRefresh claims;

  /** Makes sure that claims which may be very new are known. */
  public interface ClaimRefresh {

    /**
     * Looks up the claims of a pod that are not in memory, within less than a second.
     *
     * @throws IOException if that fails, other than because there is no such claim
     */
    void ensureKnown(PodVolumes pod) throws IOException;
  }

  public PodWebhook(DriverName driver, VolumeNeeds needs, ClaimRefresh claims) {
    this.driver = driver;
    this.needs = needs;
    this.claims = claims;
  }

  /** Serves {@code /pod/mutate}. */
  public Response mutate(byte[] body) {
    AdmissionRequest request;
    try {
      request = AdmissionRequest.read(body);
    } catch (IOException e) {
      return Response.text(400, String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
    try {
      return Response.json(review(request, patch(request)));
    } catch (IOException e) {
      // failurePolicy decides what becomes of the pod
      return Response.text(500, "look up claim: " + e.getMessage());
    }
  }

  private Optional<ArrayNode> patch(AdmissionRequest request) throws IOException {
    PodVolumes pod = request.pod().volumes(request.namespace());
    Optional<PodJson.Container> container = request.pod().firstContainer();
    if (pod.volumes().isEmpty()
        || container.isEmpty()
        || IGNORE.equals(request.pod().webhookLabel())) {
      return Optional.empty();
    }
    claims.ensureKnown(pod);
    if (!needs.concern(pod)) {
      return Optional.empty();
    }
    LOG.atDebug()
        .addKeyValue("namespace", pod.namespace())
        .addKeyValue("pod", pod.name())
        .log("Pod needs the scheduler extender.");
    return Optional.of(PodMutation.patch(driver, container.get()));
  }

  private static byte[] review(AdmissionRequest request, Optional<ArrayNode> patch) {
    ObjectNode review = JSON.createObjectNode();
    review.put("apiVersion", request.apiVersion()).put("kind", "AdmissionReview");
    ObjectNode response = review.putObject("response");
    response.put("uid", request.uid()).put("allowed", true);
    try {
      if (patch.isPresent()) {
        response.put("patchType", "JSONPatch");
        response.put("patch", JSON.writeValueAsBytes(patch.get()));
      }
      return JSON.writeValueAsBytes(review);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
