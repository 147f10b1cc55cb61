package io.pmemcsi.operator.rollout.draining;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The annotation of a node whose driver is being updated. It is the only state of an update, so
 * that another operator can continue at any point.
 *
 * @param owner uid of the resource
 * @param resource its namespace and name, separated by a slash
 * @param since when the step began
 * @param cordoned whether the operator cordoned the node; otherwise it was cordoned before
 */
record DrainAnnotation(String owner, String resource, Step step, Instant since, boolean cordoned) {

  /** The prefix of the annotation's key; the rest is the name of the driver. */
  static final String PREFIX = "node-update.csidriver.storage.openshift.io/";

  private static final ObjectMapper JSON = new ObjectMapper();

  DrainAnnotation {
    since = since.truncatedTo(ChronoUnit.MILLIS);
  }

  /** The key for a driver. */
  static String key(String driver) {
    return PREFIX + driver;
  }

  /** The value of the annotation. */
  String text() {
    return JSON.createObjectNode()
        .put("owner", owner)
        .put("resource", resource)
        .put("step", step.text())
        .put("since", since.toString())
        .put("cordoned", cordoned)
        .toString();
  }

  /**
   * Reads an annotation. An unreadable one gets an unknown owner, so that its node is released
   * instead of staying cordoned for ever.
   */
  static DrainAnnotation parse(String text) {
    try {
      JsonNode read = JSON.readTree(text);
      return new DrainAnnotation(
          read.path("owner").asText(),
          read.path("resource").asText(),
          Step.find(read.path("step").asText()).orElse(Step.CORDONED),
          Instant.parse(read.path("since").asText()),
          read.path("cordoned").asBoolean(true));
    } catch (JsonProcessingException | DateTimeException e) {
      return new DrainAnnotation("", "", Step.CORDONED, Instant.EPOCH, true);
    }
  }

  /** The annotations of a node, by driver. */
  static Map<String, DrainAnnotation> of(Map<String, String> annotations) {
    return annotations.entrySet().stream()
        .filter(annotation -> annotation.getKey().startsWith(PREFIX))
        .collect(
            Collectors.toMap(
                annotation -> annotation.getKey().substring(PREFIX.length()),
                annotation -> parse(annotation.getValue()),
                (first, second) -> first,
                TreeMap::new));
  }

  /** Whether the update of another driver needs the cordon. */
  static boolean sharedCordon(Map<String, DrainAnnotation> annotations, String driver) {
    return annotations.entrySet().stream()
        .anyMatch(
            annotation -> !annotation.getKey().equals(driver) && annotation.getValue().cordoned());
  }

  /** Namespace and name of the resource, if the annotation has them. */
  Optional<String[]> resourceName() {
    String[] parts = resource.split("/", -1);
    return parts.length == 2 ? Optional.of(parts) : Optional.empty();
  }
}
