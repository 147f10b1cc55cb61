package io.pmemcsi.controller.webhook;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.pmemcsi.controller.volume.PodJson;
import io.pmemcsi.controller.volume.RequestJson;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The request inside of an AdmissionReview.
 *
 * @param apiVersion of the review; the response carries the same
 */
record AdmissionRequest(String apiVersion, String uid, String namespace, PodJson pod) {

  static AdmissionRequest read(byte[] body) throws IOException {
    String apiVersion = "admission.k8s.io/v1";
    AdmissionRequest request = null;
    try (JsonParser parser = RequestJson.FACTORY.createParser(body)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          String field = parser.currentName();
          JsonToken value = parser.nextToken();
          if (field.equals("apiVersion") && value == JsonToken.VALUE_STRING) {
            apiVersion = parser.getText();
          } else if (field.equals("request") && value == JsonToken.START_OBJECT) {
            request = request(parser);
          } else {
            parser.skipChildren();
          }
        }
      }
    }
    if (request == null) {
      throw new IOException("this is no AdmissionReview with a request that has a uid and a pod");
    }
    return new AdmissionRequest(apiVersion, request.uid(), request.namespace(), request.pod());
  }

  private static @Nullable AdmissionRequest request(JsonParser parser) throws IOException {
    String uid = "";
    String namespace = "";
    PodJson pod = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String field = parser.currentName();
      JsonToken value = parser.nextToken();
      if (field.equals("uid") && value == JsonToken.VALUE_STRING) {
        uid = parser.getText();
      } else if (field.equals("namespace") && value == JsonToken.VALUE_STRING) {
        namespace = parser.getText();
      } else if (field.equals("object") && value == JsonToken.START_OBJECT) {
        pod = PodJson.read(parser);
      } else {
        parser.skipChildren();
      }
    }
    return uid.isEmpty() || pod == null ? null : new AdmissionRequest("", uid, namespace, pod);
  }
}
