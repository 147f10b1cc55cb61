package io.pmemcsi.operator.tools.install;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.kinds.ResourceKind;
import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.api.yaml.YamlWriter;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.yaml.YamlText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The bundle for the Operator Lifecycle Manager. */
final class BundleFiles {

  static final String BUNDLE = "bundle/";

  static final String CLUSTER_SERVICE_VERSION =
      BUNDLE + "manifests/pmem-csi-operator.clusterserviceversion.yaml";

  /** One resource of each kind that the operator reconciles. */
  private static final List<String> EXAMPLES =
      List.of("samples/pmem-csi.yaml", "samples/v1alpha1/pmem-csi.yaml", "samples/hostpath.yaml");

  private static final String HEAD =
      """
      apiVersion: operators.coreos.com/v1alpha1
      kind: ClusterServiceVersion
      metadata:
        name: pmem-csi-operator.v%2$s
        annotations:
          capabilities: Full Lifecycle
          categories: Storage
          containerImage: %3$s
          description: Installs and manages CSI drivers, among them the one for persistent memory
      spec:
        displayName: PMEM-CSI Operator
        description: |
          The operator turns one custom resource into a running CSI driver, reverts drift, carries out upgrades, and
          reports everything in the resource's status.

          - `PmemCSIDeployment` is the driver for persistent memory.
          - `Deployment` is the same driver in the older API, with a central controller.
          - `CSIDriverDeployment` is any CSI driver, from your own pod templates.
        version: %1$s
        maturity: beta
        minKubeVersion: 1.20.0
        keywords: [csi, operator, pmem, storage]
        provider: {name: the PMEM-CSI maintainers}
        installModes:
        - {type: OwnNamespace, supported: true}
        - {type: SingleNamespace, supported: true}
        - {type: MultiNamespace, supported: false}
        - {type: AllNamespaces, supported: true}
      """;

  private static final String ANNOTATIONS =
      """
      annotations:
        operators.operatorframework.io.bundle.mediatype.v1: registry+v1
        operators.operatorframework.io.bundle.manifests.v1: manifests/
        operators.operatorframework.io.bundle.metadata.v1: metadata/
        operators.operatorframework.io.bundle.package.v1: pmem-csi-operator
        operators.operatorframework.io.bundle.channels.v1: stable
        operators.operatorframework.io.bundle.channel.default.v1: stable
      """;

  /** The catalog's tools read the labels, the Operator Lifecycle Manager the file. */
  private static final String CONTAINERFILE =
      """
      FROM scratch
      %sCOPY manifests /manifests/
      COPY metadata /metadata/
      """;

  private static final ObjectMapper JSON = new ObjectMapper();

  private BundleFiles() {}

  static List<GeneratedFile> all() {
    var operator =
        new OperatorInstallation(OperatorFiles.NAMESPACE, OperatorInstallation.DEFAULT_IMAGE);
    var files = new ArrayList<GeneratedFile>();
    files.add(
        new GeneratedFile(
            CLUSTER_SERVICE_VERSION,
            GeneratedFile.HEADER + YamlWriter.write(clusterServiceVersion(operator))));
    files.add(
        GeneratedFile.of(
            BUNDLE + "manifests/pmem-csi-operator-config.yaml",
            operator.workload().stream()
                .filter(ConfigMap.class::isInstance)
                .map(BundleFiles::withoutNamespace)
                .toList()));
    for (var kind : ResourceKind.types()) {
      String name = CustomResourceDefinitions.fileName(kind);
      files.add(GeneratedFile.copyOf("crd/" + name, BUNDLE + "manifests/" + name));
    }
    files.add(
        new GeneratedFile(
            BUNDLE + "metadata/annotations.yaml", GeneratedFile.HEADER + ANNOTATIONS));
    files.add(
        new GeneratedFile(
            BUNDLE + "Containerfile",
            GeneratedFile.HEADER
                + CONTAINERFILE.formatted(
                    ANNOTATIONS
                        .replaceFirst("annotations:\n", "")
                        .replaceAll("(?m)^  (.*): (.*)$", "LABEL $1=$2"))));
    return files;
  }

  private static JsonNode clusterServiceVersion(OperatorInstallation operator) {
    String version = Version.current();
    ObjectNode csv =
        (ObjectNode)
            yaml(HEAD.formatted(version, version.toLowerCase(Locale.ROOT), operator.image()));
    ((ObjectNode) csv.at("/metadata/annotations"))
        .put("alm-examples", examples())
        .put("operatorframework.io/suggested-namespace-template", namespace());
    ObjectNode spec = (ObjectNode) csv.get("spec");
    ArrayNode owned = spec.putObject("customresourcedefinitions").putArray("owned");
    ResourceKind.types().forEach(kind -> owned.add(owned(kind)));
    ObjectNode install = spec.putObject("install");
    install.put("strategy", "deployment");
    ObjectNode strategy = install.putObject("spec");
    strategy.putArray("permissions").add(permissions(operator, Role.class));
    strategy.putArray("clusterPermissions").add(permissions(operator, ClusterRole.class));
    Deployment deployment = first(operator.workload(), Deployment.class);
    ObjectNode deployed = strategy.putArray("deployments").addObject();
    deployed.put("name", deployment.getMetadata().getName());
    deployed.set("spec", json(deployment.getSpec()));
    return csv;
  }

  private static String examples() {
    ArrayNode examples = JSON.createArrayNode();
    EXAMPLES.forEach(path -> examples.add(yaml(GeneratedFile.copyOf(path, path).text())));
    return text(examples);
  }

  /** OpenShift's console creates it with the labels for the privileged pods of drivers. */
  private static String namespace() {
    return text(json(OperatorInstallation.namespaceOf(OperatorFiles.NAMESPACE)));
  }

  private static String text(JsonNode content) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(content) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The rules of the Role in the operator's namespace, or of its ClusterRole. */
  private static ObjectNode permissions(
      OperatorInstallation operator, Class<? extends HasMetadata> type) {
    ObjectNode permissions = JSON.createObjectNode();
    permissions.put("serviceAccountName", operator.name());
    permissions.set("rules", json(first(operator.permissions(), type)).get("rules"));
    return permissions;
  }

  private static ObjectNode owned(Class<? extends CustomResource<?, ?>> kind) {
    var definition = CustomResourceDefinitions.of(kind);
    var version = definition.getSpec().getVersions().getFirst();
    JsonNode schema = json(version.getSchema().getOpenAPIV3Schema());
    ObjectNode owned = JSON.createObjectNode();
    owned.put("name", definition.getMetadata().getName());
    owned.put("kind", definition.getSpec().getNames().getKind());
    owned.put("version", version.getName());
    owned.put("displayName", displayName(definition.getSpec().getNames().getKind()));
    owned.put(
        "description",
        schema.path("description").asText(definition.getSpec().getNames().getKind()));
    owned.set("specDescriptors", descriptors(schema.at("/properties/spec/properties")));
    owned.set("statusDescriptors", descriptors(schema.at("/properties/status/properties")));
    return owned;
  }

  private static ArrayNode descriptors(JsonNode properties) {
    ArrayNode descriptors = JSON.createArrayNode();
    properties
        .properties()
        .forEach(
            property -> {
              ObjectNode descriptor = descriptors.addObject();
              descriptor.put("path", property.getKey());
              descriptor.put("displayName", displayName(property.getKey()));
              descriptor.put("description", property.getValue().path("description").asText());
            });
    return descriptors;
  }

  /** {@code nodeSelector} is shown as {@code Node Selector}. */
  private static String displayName(String name) {
    String words = name.replaceAll("([a-z0-9])([A-Z])", "$1 $2");
    return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
  }

  private static HasMetadata withoutNamespace(HasMetadata object) {
    object.getMetadata().setNamespace(null);
    return object;
  }

  private static <T extends HasMetadata> T first(List<HasMetadata> objects, Class<T> type) {
    return objects.stream().filter(type::isInstance).map(type::cast).findFirst().orElseThrow();
  }

  private static JsonNode yaml(String text) {
    return YamlText.documents(text).getFirst().content();
  }

  private static JsonNode json(Object object) {
    return JSON.valueToTree(object);
  }
}
