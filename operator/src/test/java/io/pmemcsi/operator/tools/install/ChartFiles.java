package io.pmemcsi.operator.tools.install;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.PrettyPrinter;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.pmemcsi.api.kinds.ResourceKind;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The generated part of the Helm chart: the operator's objects with values in place of constants,
 * the CRDs, and the schema of the values.
 */
final class ChartFiles {

  static final String CHART = "helm/pmem-csi/";

  /** Values that occur nowhere else in the objects. */
  private static final String NAMESPACE = "release-namespace";

  private static final String IMAGE = "chart-image";

  private static final String CHART_YAML =
      """
      apiVersion: v2
      name: pmem-csi
      description: Persistent memory as Kubernetes volumes, and an operator that installs CSI drivers
      type: application
      version: %1$s
      appVersion: %1$s
      kubeVersion: ">=1.20.0-0"
      keywords:
      - csi
      - operator
      - pmem
      - storage
      """;

  /** Everything except what the CRD describes. */
  private static final String VALUES_SCHEMA =
      """
      {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "global": {"type": "object"},
          "image": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "repository": {"type": "string", "minLength": 1},
              "tag": {"type": "string"},
              "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]}
            }
          },
          "imagePullSecrets": {
            "type": "array",
            "items": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {"name": {"type": "string"}}
            }
          },
          "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
          "logLevel": {"type": "integer", "minimum": 0, "maximum": 10},
          "resources": {
            "type": "object",
            "additionalProperties": false,
            "properties": {}
          },
          "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
          "tolerations": {"type": "array", "items": {}},
          "networkPolicy": {
            "type": "object",
            "additionalProperties": false,
            "properties": {"enabled": {"type": "boolean"}}
          },
          "config": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "clusterRoleName": {"type": "string", "pattern": "^[^/%\\\\s]*$"},
              "defaultImages": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "attacherImage": {"type": "string", "pattern": "^\\\\S*$"},
                  "driverRegistrarImage": {"type": "string", "pattern": "^\\\\S*$"},
                  "livenessProbeImage": {"type": "string", "pattern": "^\\\\S*$"},
                  "provisionerImage": {"type": "string", "pattern": "^\\\\S*$"},
                  "resizerImage": {"type": "string", "pattern": "^\\\\S*$"},
                  "snapshotterImage": {"type": "string", "pattern": "^\\\\S*$"}
                }
              },
              "deploymentReplicas": {"type": "integer", "minimum": 0, "maximum": 100},
              "infrastructureNodeSelector": {
                "type": "object",
                "additionalProperties": {"type": "string"}
              },
              "kubeletRootDir": {"type": "string", "pattern": "^((/[^/]+)+)?$"},
              "leaderElectionClusterRoleName": {"type": "string", "pattern": "^[^/%\\\\s]*$"}
            }
          },
          "driver": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "enabled": {"type": "boolean"},
              "name": {
                "type": "string",
                "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
              },
              "spec": {}
            }
          },
          "storageClasses": {
            "type": "array",
            "items": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {
                "name": {"type": "string", "minLength": 1},
                "default": {"type": "boolean"},
                "parameters": {
                  "type": "object",
                  "additionalProperties": {"type": ["string", "boolean", "integer"]}
                },
                "reclaimPolicy": {"enum": ["Delete", "Retain"]},
                "volumeBindingMode": {"enum": ["Immediate", "WaitForFirstConsumer"]},
                "allowVolumeExpansion": {"type": "boolean"}
              }
            }
          },
          "monitors": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "enabled": {"type": "boolean"},
              "labels": {"type": "object", "additionalProperties": {"type": "string"}}
            }
          }
        }
      }
      """;

  private static final ObjectMapper JSON = new ObjectMapper();

  private ChartFiles() {}

  static List<GeneratedFile> all() {
    var files = new ArrayList<GeneratedFile>();
    files.add(
        new GeneratedFile(
            CHART + "Chart.yaml", GeneratedFile.HEADER + CHART_YAML.formatted(Version.current())));
    files.add(new GeneratedFile(CHART + "values.schema.json", schema()));
    files.add(new GeneratedFile(CHART + "templates/operator.yaml", operator()));
    for (var kind : ResourceKind.types()) {
      String name = CustomResourceDefinitions.fileName(kind);
      files.add(GeneratedFile.copyOf("crd/" + name, CHART + "crds/" + name));
    }
    return files;
  }

  private static String operator() {
    var installation = new OperatorInstallation(NAMESPACE, IMAGE);
    Map<Boolean, List<HasMetadata>> objects =
        Stream.of(installation.permissions(), installation.workload())
            .flatMap(List::stream)
            .collect(Collectors.partitioningBy(NetworkPolicy.class::isInstance));
    String yaml =
        new Rendering().yaml(objects.getOrDefault(false, List.of()))
            + "{{- if .Values.networkPolicy.enabled }}\n"
            + new Rendering().yaml(objects.getOrDefault(true, List.of()))
            + "{{- end }}\n";
    yaml = yaml.replace(NAMESPACE, "{{ .Release.Namespace }}");
    yaml =
        replace(
            yaml,
            "image: " + IMAGE,
            "image: {{ .Values.image.repository }}:"
                + "{{ .Values.image.tag | default .Chart.AppVersion }}");
    yaml = replace(yaml, "Policy: IfNotPresent", "Policy: {{ .Values.image.pullPolicy }}");
    yaml = replace(yaml, "replicas: 1\n", "replicas: {{ .Values.replicas }}\n");
    yaml = replace(yaml, "- -v=3\n", "- -v={{ .Values.logLevel }}\n");
    yaml =
        replace(
            yaml,
            """
                    resources:
                      limits:
                        memory: 384Mi
                      requests:
                        cpu: 50m
                        memory: 192Mi
            """,
            """
                    resources:
                      {{- toYaml .Values.resources | nindent 10 }}
            """);
    yaml =
        replace(
            yaml,
            "      serviceAccountName: pmem-csi-operator\n",
            "      serviceAccountName: pmem-csi-operator\n"
                + optional("imagePullSecrets")
                + optional("nodeSelector")
                + optional("tolerations"));
    // the line is the last one of the configuration
    int line = yaml.indexOf("# Defaults for drivers from templates");
    int end = yaml.indexOf('\n', line) + 1;
    return GeneratedFile.HEADER
        + yaml.substring(0, end)
        + "    {{- with .Values.config }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}\n"
        + yaml.substring(end);
  }

  private static String optional(String value) {
    return """
          {{- with .Values.%1$s }}
          %1$s:
            {{- toYaml . | nindent 8 }}
          {{- end }}
    """
        .formatted(value);
  }

  private static String replace(String text, String constant, String expression) {
    int found = text.indexOf(constant);
    if (found < 0 || text.indexOf(constant, found + 1) >= 0) {
      throw new IllegalStateException(
          "the operator's objects do not have exactly one \"%s\"".formatted(constant));
    }
    return text.replace(constant, expression);
  }

  private static String schema() {
    try {
      JsonNode schema = JSON.readTree(VALUES_SCHEMA);
      JsonNode driver = ofDriver();
      ((ObjectNode) schema.at("/properties/driver/properties")).set("spec", driver);
      ((ObjectNode) schema.at("/properties/resources"))
          .set("properties", driver.at("/properties/nodeDriverResources/properties"));
      ((ObjectNode) schema.at("/properties/tolerations"))
          .set("items", driver.at("/properties/nodePods/properties/tolerations/items"));
      var printer =
          new DefaultPrettyPrinter(
                  PrettyPrinter.DEFAULT_SEPARATORS.withObjectFieldValueSpacing(
                      Separators.Spacing.AFTER))
              .withArrayIndenter(DefaultPrettyPrinter.NopIndenter.instance);
      printer.indentObjectsWith(new DefaultIndenter("  ", "\n"));
      return JSON.writer(printer).writeValueAsString(schema) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static JsonNode ofDriver() {
    JsonNode definition = JSON.valueToTree(CustomResourceDefinitions.of(PmemCSIDeployment.class));
    return plain(definition.at("/spec/versions/0/schema/openAPIV3Schema/properties/spec"));
  }

  /** What JSON Schema has in common with the schemas of Kubernetes; unknown fields are errors. */
  private static JsonNode plain(JsonNode structural) {
    ObjectNode plain = JSON.createObjectNode();
    for (String keyword :
        List.of(
            "type",
            "enum",
            "pattern",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "required",
            "uniqueItems")) {
      JsonNode value = structural.path(keyword);
      if (!value.isMissingNode() && !value.isNull() && !(value.isArray() && value.isEmpty())) {
        plain.set(keyword, value);
      }
    }
    if (structural.path("x-kubernetes-int-or-string").asBoolean()) {
      plain.set("type", JSON.createArrayNode().add("integer").add("string"));
    }
    if (structural.path("items").isObject()) {
      plain.set("items", plain(structural.get("items")));
    }
    if (structural.path("additionalProperties").isObject()) {
      plain.set("additionalProperties", plain(structural.get("additionalProperties")));
    }
    JsonNode properties = structural.path("properties");
    if (properties.isObject() && !properties.isEmpty()) {
      ObjectNode converted = plain.putObject("properties");
      properties.properties().forEach(p -> converted.set(p.getKey(), plain(p.getValue())));
      if (!structural.path("x-kubernetes-preserve-unknown-fields").asBoolean()) {
        plain.put("additionalProperties", false);
      }
    }
    return plain;
  }
}
