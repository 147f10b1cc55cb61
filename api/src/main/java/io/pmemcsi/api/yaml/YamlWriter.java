package io.pmemcsi.api.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Present;
import org.snakeyaml.engine.v2.api.lowlevel.Serialize;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Writes Kubernetes objects as YAML the way a person would: keys in the usual order, quotes only
 * where a parser of YAML 1.1 or 1.2 needs them, short lists of names on one line.
 */
public final class YamlWriter {

  /** Keys that are not listed follow the listed ones, in alphabetical order. */
  private static final List<String> KEY_ORDER =
      List.of(
          "apiVersion",
          "apiGroup",
          "kind",
          "metadata",
          "name",
          "generateName",
          "namespace",
          "labels",
          "annotations",
          "spec",
          "path",
          "type",
          "weight",
          "replicas",
          "selector",
          "podSelector",
          "policyTypes",
          "updateStrategy",
          "strategy",
          "template",
          "serviceAccountName",
          "priorityClassName",
          "image",
          "imagePullPolicy",
          "command",
          "args",
          "env",
          "key",
          "operator",
          "value",
          "values",
          "valueFrom",
          "effect",
          "port",
          "containerPort",
          "hostPort",
          "targetPort",
          "protocol",
          "ports",
          "apiGroups",
          "apiVersions",
          "operations",
          "resources",
          "resourceNames",
          "verbs",
          "startupProbe",
          "livenessProbe",
          "readinessProbe",
          "httpGet",
          "periodSeconds",
          "timeoutSeconds",
          "failureThreshold",
          "securityContext",
          "mountPath",
          "readOnly",
          "terminationMessagePath",
          "volumeMounts",
          "nodeSelector",
          "affinity",
          "tolerations",
          "initContainers",
          "containers",
          "volumes",
          "roleRef",
          "subjects",
          "rules");

  private static final Comparator<String> ORDER =
      Comparator.comparingInt(YamlWriter::rank).thenComparing(Comparator.naturalOrder());

  /** The fields that a schema describes. */
  private static final String FIELDS = "properties";

  private static final Set<String> ON_ONE_LINE =
      Set.of(
          "apiGroups",
          "apiVersions",
          "operations",
          "resources",
          "resourceNames",
          "verbs",
          "values",
          "drop",
          "accessModes",
          "volumeLifecycleModes",
          "admissionReviewVersions");

  /**
   * Text that some parser takes for a boolean, null, number, date or merge key. YAML 1.1, which
   * kubectl reads, has more of them than YAML 1.2.
   */
  private static final Pattern AMBIGUOUS =
      Pattern.compile(
          """
          (?ix)
          | ~ | = | << | y | n | yes | no | on | off | true | false | null
          | [-+]?\\.(inf|nan)
          | [-+]?0(x[0-9a-f_]+|o[0-7_]+|b[01_]+)
          | [-+]?([0-9][0-9_]*)?\\.?[0-9_]*(e[-+]?[0-9]+)?
          | [-+]?[0-9]+(:[0-5]?[0-9])+(\\.[0-9_]*)?
          | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*
          """);

  private static final DumpSettings SETTINGS =
      DumpSettings.builder()
          .setDefaultFlowStyle(FlowStyle.BLOCK)
          .setWidth(Integer.MAX_VALUE)
          .build();

  private YamlWriter() {}

  /** One document, without a separator. */
  public static String write(JsonNode content) {
    return new Present(SETTINGS)
        .emitToString(new Serialize(SETTINGS).serializeOne(node("", content)).iterator());
  }

  private static int rank(String key) {
    int index = KEY_ORDER.indexOf(key);
    return index < 0 ? KEY_ORDER.size() : index;
  }

  private static Node node(String key, JsonNode content) {
    return switch (content.getNodeType()) {
      case OBJECT -> mapping(key, content);
      case ARRAY -> sequence(key, content);
      case STRING -> string(content.asText());
      case BOOLEAN -> plain(Tag.BOOL, content);
      case NUMBER -> plain(content.isIntegralNumber() ? Tag.INT : Tag.FLOAT, content);
      case NULL, MISSING, BINARY, POJO -> plain(Tag.NULL, content);
    };
  }

  private static Node mapping(String key, JsonNode content) {
    List<NodeTuple> entries =
        content.properties().stream()
            .sorted(
                Map.Entry.comparingByKey(key.equals(FIELDS) ? Comparator.naturalOrder() : ORDER))
            .map(
                entry ->
                    new NodeTuple(string(entry.getKey()), node(entry.getKey(), entry.getValue())))
            .toList();
    return new MappingNode(Tag.MAP, new ArrayList<>(entries), FlowStyle.BLOCK);
  }

  private static Node sequence(String key, JsonNode content) {
    var items = new ArrayList<Node>();
    boolean scalars = true;
    for (JsonNode item : content) {
      items.add(node("", item));
      scalars &= item.isValueNode();
    }
    FlowStyle style = scalars && ON_ONE_LINE.contains(key) ? FlowStyle.FLOW : FlowStyle.BLOCK;
    return new SequenceNode(Tag.SEQ, items, style);
  }

  private static Node string(String text) {
    ScalarStyle style =
        AMBIGUOUS.matcher(text).matches()
            ? ScalarStyle.DOUBLE_QUOTED
            : text.contains("\n") ? ScalarStyle.LITERAL : ScalarStyle.PLAIN;
    return new ScalarNode(Tag.STR, text, style);
  }

  private static Node plain(Tag tag, JsonNode content) {
    return new ScalarNode(tag, content.asText(), ScalarStyle.PLAIN);
  }
}
