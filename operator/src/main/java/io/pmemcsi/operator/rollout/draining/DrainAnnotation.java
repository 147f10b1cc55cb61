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
 * What the operator notes on a node that it works on, as an annotation. All that it must remember
 * is here, so that another operator can go on at any moment.
 *
 * @param owner uid of the resource for which the work is done
 * @param resource its namespace and name, split by a slash
 * @param since when the step began
 * @param cordoned whether the node is cordoned by the operator; else somebody else had done it
 */
public record DrainAnnotation(
    String owner, String resource, Step step, Instant since, boolean cordoned) {

  /** The first part of the annotation's name; the second is the name of the driver. */
  public static final String PREFIX = "node-update.csidriver.storage.openshift.io/";

  private static final ObjectMapper JSON = new ObjectMapper();

  public DrainAnnotation {
    since = since.truncatedTo(ChronoUnit.MILLIS);
  }

  /** The annotation for a driver. */
  public static String key(String driver) {
    return PREFIX + driver;
  }

  /** The value of the annotation. */
  public String text() {
    return JSON.createObjectNode()
        .put("owner", owner)
        .put("resource", resource)
        .put("step", step.text())
        .put("since", since.toString())
        .put("cordoned", cordoned)
        .toString();
  }

  /**
   * Reads an annotation. One that nobody understands was ours all the same: it is a mark of an
   * unknown owner, so that its node does not stay cordoned for ever.
   */
  public static DrainAnnotation parse(String text) {
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

  /** The marks on a node, by driver. */
  public static Map<String, DrainAnnotation> of(Map<String, String> annotations) {
    return annotations.entrySet().stream()
        .filter(annotation -> annotation.getKey().startsWith(PREFIX))
        .collect(
            Collectors.toMap(
                annotation -> annotation.getKey().substring(PREFIX.length()),
                annotation -> parse(annotation.getValue()),
                (first, second) -> first,
                TreeMap::new));
  }

  /** Whether the cordon is needed by the work on another driver. */
  static boolean sharedCordon(Map<String, DrainAnnotation> marks, String driver) {
    return marks.entrySet().stream()
        .anyMatch(mark -> !mark.getKey().equals(driver) && mark.getValue().cordoned());
  }

  /** Namespace and name of the resource, if the mark has them. */
  public Optional<String[]> resourceName() {
    String[] parts = resource.split("/", -1);
    return parts.length == 2 ? Optional.of(parts) : Optional.empty();
  }
}
