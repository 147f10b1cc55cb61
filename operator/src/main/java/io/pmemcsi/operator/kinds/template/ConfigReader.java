package io.pmemcsi.operator.kinds.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.yaml.YamlText;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Reads the configuration file strictly: a key that means nothing is a mistake, not a remark. As
 * documented, an empty text and a zero mean the same as nothing.
 */
public final class ConfigReader {

  private static final Map<String, Sidecar> IMAGES =
      new TreeMap<>(
          Map.of(
              "attacherImage", Sidecar.ATTACHER,
              "provisionerImage", Sidecar.PROVISIONER,
              "driverRegistrarImage", Sidecar.REGISTRAR,
              "livenessProbeImage", Sidecar.LIVENESS_PROBE,
              "resizerImage", Sidecar.RESIZER,
              "snapshotterImage", Sidecar.SNAPSHOTTER));
  private static final List<String> KEYS =
      List.of(
          "clusterRoleName",
          "defaultImages",
          "deploymentReplicas",
          "infrastructureNodeSelector",
          "kubeletRootDir",
          "leaderElectionClusterRoleName");

  private static final int MAX_REPLICAS = 100;
  private static final Pattern ABSOLUTE = Pattern.compile("(/[^/]+)+");
  private static final Pattern ROLE = Pattern.compile("[^/%\\s]+");
  private static final Pattern LABEL_KEY =
      Pattern.compile("([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?");
  private static final Pattern LABEL_VALUE =
      Pattern.compile("([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?");

  private final List<String> problems = new ArrayList<>();

  private ConfigReader() {}

  /**
   * Reads the content of a file.
   *
   * @throws IllegalArgumentException that names every wrong key
   */
  public static OperatorConfig read(String yaml) {
    List<YamlText.Document> documents = YamlText.documents(yaml);
    if (documents.isEmpty()) {
      return OperatorConfig.DEFAULT;
    }
    if (documents.size() > 1) {
      throw new IllegalArgumentException(
          "it has %d documents: write all keys into one".formatted(documents.size()));
    }
    var reader = new ConfigReader();
    OperatorConfig config = reader.config(documents.getFirst().content());
    if (!reader.problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", reader.problems));
    }
    return config;
  }

  private OperatorConfig config(JsonNode root) {
    if (!root.isObject()) {
      problems.add("the file must hold keys and values: choose from " + String.join(", ", KEYS));
      return OperatorConfig.DEFAULT;
    }
    known("", root, KEYS);
    OperatorConfig standard = OperatorConfig.DEFAULT;
    return new OperatorConfig(
        images(root.path("defaultImages")),
        selector(root.path("infrastructureNodeSelector")),
        replicas(root.path("deploymentReplicas")).orElse(standard.deploymentReplicas()),
        text(root, "", "clusterRoleName", ROLE, "a name of a ClusterRole"),
        text(root, "", "leaderElectionClusterRoleName", ROLE, "a name of a ClusterRole"),
        text(root, "", "kubeletRootDir", ABSOLUTE, "an absolute path such as /var/lib/kubelet")
            .filter(this::noDots)
            .orElse(standard.kubeletRootDir()));
  }

  private void known(String prefix, JsonNode node, Iterable<String> keys) {
    var list = new ArrayList<String>();
    keys.forEach(list::add);
    node.fieldNames()
        .forEachRemaining(
            name -> {
              if (!list.contains(name)) {
                problems.add(
                    "%s%s: is not a key: choose from %s"
                        .formatted(prefix, name, String.join(", ", list)));
              }
            });
  }

  private Map<Sidecar, String> images(JsonNode node) {
    var result = new EnumMap<Sidecar, String>(Sidecar.class);
    if (isNothing(node)) {
      return result;
    }
    if (!node.isObject()) {
      problems.add("defaultImages: must hold keys and values");
      return result;
    }
    known("defaultImages.", node, IMAGES.keySet());
    IMAGES.forEach(
        (key, sidecar) ->
            text(node, "defaultImages.", key, Pattern.compile("\\S+"), "an image without blanks")
                .ifPresent(image -> result.put(sidecar, image)));
    return result;
  }

  private Map<String, String> selector(JsonNode node) {
    var result = new TreeMap<String, String>();
    if (isNothing(node)) {
      return result;
    }
    if (!node.isObject()) {
      problems.add("infrastructureNodeSelector: must hold labels and their values");
      return result;
    }
    node.properties()
        .forEach(
            label -> {
              String key = label.getKey();
              if (!LABEL_KEY.matcher(key).matches()) {
                problems.add(
                    "infrastructureNodeSelector: \"%s\": is not the key of a label".formatted(key));
              } else if (!label.getValue().isTextual()
                  || !LABEL_VALUE.matcher(label.getValue().asText()).matches()) {
                problems.add(
                    "infrastructureNodeSelector.%s: %s: is not the value of a label: write it in quotes"
                        .formatted(key, label.getValue()));
              } else {
                result.put(key, label.getValue().asText());
              }
            });
    return result;
  }

  private Optional<Integer> replicas(JsonNode node) {
    if (isNothing(node)) {
      return Optional.empty();
    }
    if (!node.isIntegralNumber()
        || !node.canConvertToInt()
        || node.asInt() < 0
        || node.asInt() > MAX_REPLICAS) {
      problems.add(
          "deploymentReplicas: %s: must be a whole number from 1 to %d"
              .formatted(node, MAX_REPLICAS));
      return Optional.empty();
    }
    return Optional.of(node.asInt()).filter(number -> number > 0);
  }

  private Optional<String> text(
      JsonNode parent, String prefix, String key, Pattern pattern, String expected) {
    JsonNode node = parent.path(key);
    if (isNothing(node) || (node.isTextual() && node.asText().isEmpty())) {
      return Optional.empty();
    }
    Predicate<String> fits = pattern.asMatchPredicate();
    if (!node.isTextual() || !fits.test(node.asText())) {
      problems.add("%s%s: %s: must be %s".formatted(prefix, key, node, expected));
      return Optional.empty();
    }
    return Optional.of(node.asText());
  }

  private boolean noDots(String path) {
    boolean fine = !path.matches(".*/[.][.]?(/.*)?");
    if (!fine) {
      problems.add("kubeletRootDir: \"%s\": write the path without . and ..".formatted(path));
    }
    return fine;
  }

  private static boolean isNothing(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }
}
