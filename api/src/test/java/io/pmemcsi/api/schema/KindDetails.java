package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.VolumeLifecycleMode;
import java.util.Arrays;
import java.util.List;

/** What a CRD has beyond the fields of its Java types. */
enum KindDetails {
  PMEM(
      PmemCSIDeployment.class,
      "A PMEM-CSI driver with provisioning on every node. The name of the resource is the name of"
          + " the CSI driver.",
      63) {
    @Override
    List<Column> columns() {
      return List.of(
          new Column("DeviceMode", "string", ".spec.deviceMode", 0),
          new Column("NodeSelector", "string", ".spec.nodeSelector", 0),
          new Column("Image", "string", ".spec.image", 0),
          new Column("Status", "string", ".status.phase", 0),
          new Column("Age", "date", ".metadata.creationTimestamp", 0),
          new Column("Reason", "string", ".status.reason", 1));
    }

    @Override
    void refine(ObjectNode properties) {
      pmemSpec(at(properties, "/spec"));
      ObjectNode spec = at(properties, "/spec/properties");
      at(spec, "/managementState").withArray("enum").add(NOT_SET);
      SchemaParts.keyedBy(at(spec, "/imagePullSecrets"), "name");
      storageClasses(spec);
      SchemaParts.namedMetadata(at(spec, "/snapshotClassTemplates/items/properties/metadata"));
      for (String pods : List.of("nodePods", "controllerPods")) {
        ObjectNode options = at(spec, "/" + pods + "/properties");
        SchemaParts.toleration(at(options, "/tolerations/items"));
        SchemaParts.open(at(options, "/affinity"));
      }
      pmemStatus(at(properties, "/status"));
    }
  },

  // a StatefulSet called <name>-controller puts its name and a hash of ten into a label of 63
  LEGACY(
      LegacyDeployment.class,
      "A PMEM-CSI driver with a central controller, its registry and mutual TLS.",
      41) {
    @Override
    List<Column> columns() {
      return List.of(
          new Column("DeviceMode", "string", ".spec.deviceMode", 0),
          new Column("NodeSelector", "string", ".spec.nodeSelector", 0),
          new Column("Image", "string", ".spec.image", 0),
          new Column("Status", "string", ".status.phase", 0),
          new Column("Age", "date", ".metadata.creationTimestamp", 0),
          new Column("Reason", "string", ".status.reason", 1));
    }

    @Override
    void refine(ObjectNode properties) {
      pmemSpec(at(properties, "/spec"));
      pmemStatus(at(properties, "/status"));
    }
  },

  GENERIC(
      CSIDriverDeployment.class,
      "Any CSI driver, deployed from the user's own pod templates into the namespace of this"
          + " resource.",
      58) {
    @Override
    List<Column> columns() {
      return List.of(
          new Column("Driver", "string", ".spec.driverName", 0),
          new Column("State", "string", ".status.state", 0),
          new Column("Available", "string", condition("Available"), 0),
          new Column("SyncSuccessful", "string", condition("SyncSuccessful"), 0),
          new Column("Ready", "string", condition("Ready"), 0),
          new Column("Age", "date", ".metadata.creationTimestamp", 0));
    }

    @Override
    void refine(ObjectNode properties) {
      ObjectNode spec = at(properties, "/spec/properties");
      at(spec, "/managementState").withArray("enum").add(NOT_SET);
      SchemaParts.podTemplate(at(spec, "/driverPerNodeTemplate"));
      SchemaParts.podTemplate(at(spec, "/driverControllerTemplate"));
      storageClasses(spec);
      ArrayNode modes =
          at(spec, "/csiDriver/properties/volumeLifecycleModes/items").putArray("enum");
      Arrays.stream(VolumeLifecycleMode.values())
          .map(VolumeLifecycleMode::text)
          .forEach(modes::add);
      ObjectNode status = at(properties, "/status/properties");
      SchemaParts.oneOf(
          at(status, "/state"),
          CSIDriverDeploymentStatus.STATE_MANAGED,
          CSIDriverDeploymentStatus.STATE_UNMANAGED,
          CSIDriverDeploymentStatus.STATE_REMOVED,
          NOT_SET);
      SchemaParts.conditionStatus(at(status, "/conditions/items/properties/status"));
      SchemaParts.keyedBy(at(status, "/conditions"), "type");
      SchemaParts.keyedBy(at(status, "/nodeUpdate/properties/outdated"), "node");
    }
  };

  /**
   * Operators of earlier releases left entries of their status empty: a resource that is stored
   * with one must stay one that can be written.
   */
  private static final String NOT_SET = "";

  private final Class<? extends CustomResource<?, ?>> kind;
  private final String description;
  private final int maxNameLength;

  KindDetails(Class<? extends CustomResource<?, ?>> kind, String description, int maxNameLength) {
    this.kind = kind;
    this.description = description;
    this.maxNameLength = maxNameLength;
  }

  Class<? extends CustomResource<?, ?>> kind() {
    return kind;
  }

  String description() {
    return description;
  }

  int maxNameLength() {
    return maxNameLength;
  }

  ArrayNode columns(ArrayNode list) {
    for (Column column : columns()) {
      ObjectNode node = list.addObject();
      node.put("name", column.name());
      node.put("type", column.type());
      node.put("jsonPath", column.path());
      if (column.priority() > 0) {
        node.put("priority", column.priority());
      }
    }
    return list;
  }

  /** Whether a resource can do without a spec. */
  boolean specIsOptional() {
    return this != GENERIC;
  }

  /** The columns of {@code kubectl get}, in their order. */
  abstract List<Column> columns();

  /** Adds to the schema what the types cannot express. */
  abstract void refine(ObjectNode properties);

  /** A column of {@code kubectl get}; those with a priority show up with {@code -o wide}. */
  record Column(String name, String type, String path, int priority) {}

  private static String condition(String type) {
    return ".status.conditions[?(@.type==\"" + type + "\")].status";
  }

  private static void storageClasses(ObjectNode spec) {
    ObjectNode classes = at(spec, "/storageClassTemplates/items/properties");
    SchemaParts.namedMetadata(at(classes, "/metadata"));
    SchemaParts.topologyTerm(at(classes, "/allowedTopologies/items"));
  }

  private static void pmemSpec(ObjectNode spec) {
    SchemaParts.labels(at(spec, "/properties/nodeSelector"));
    SchemaParts.labels(at(spec, "/properties/labels"));
    for (String field :
        List.of(
            "caCert", "registryCert", "registryKey", "nodeControllerCert", "nodeControllerKey")) {
      at(spec, "/properties/" + field).put("format", "byte");
    }
  }

  private static void pmemStatus(ObjectNode status) {
    SchemaParts.oneOf(
        at(status, "/properties/phase"),
        PmemCSIDeploymentStatus.PHASE_NEW,
        PmemCSIDeploymentStatus.PHASE_INITIALIZING,
        PmemCSIDeploymentStatus.PHASE_RUNNING,
        PmemCSIDeploymentStatus.PHASE_FAILED,
        PmemCSIDeploymentStatus.PHASE_UNMANAGED,
        PmemCSIDeploymentStatus.PHASE_TERMINATING);
    SchemaParts.conditionStatus(at(status, "/properties/conditions/items/properties/status"));
    ObjectNode component = at(status, "/properties/driverComponents/items/properties");
    SchemaParts.oneOf(
        at(component, "/component"), DriverComponent.CONTROLLER, DriverComponent.NODE, NOT_SET);
    SchemaParts.oneOf(
        at(component, "/status"), DriverComponent.READY, DriverComponent.NOT_READY, NOT_SET);
    SchemaParts.keyedBy(at(status, "/properties/conditions"), "type");
    SchemaParts.keyedBy(at(status, "/properties/driverComponents"), "component");
    SchemaParts.keyedBy(at(status, "/properties/unpreparedNodes"), "node");
  }

  private static ObjectNode at(ObjectNode node, String path) {
    if (node.at(path) instanceof ObjectNode found) {
      return found;
    }
    throw new IllegalStateException("the generated schema has no " + path);
  }
}
