package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.pmemcsi.api.StandardCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.tools.status.DriverReport.Component;
import io.pmemcsi.operator.tools.status.DriverReport.Condition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A resource of any kind and what the operator reports about it. Fields that this release does not
 * know do no harm: the operator may be another release.
 */
record ResourceStatus(GenericKubernetesResource resource) {

  /** A field where the kind has one, else the name of the resource. */
  String driver() {
    String written = Fields.text(resource.get("spec", "driverName"));
    return written.isEmpty() ? resource.getMetadata().getName() : written;
  }

  /** Kind, namespace where it has one, and name. */
  String title() {
    String namespace = resource.getMetadata().getNamespace();
    return resource.getKind()
        + " "
        + (namespace == null ? "" : namespace + "/")
        + resource.getMetadata().getName();
  }

  /** Whether a pod is one of the driver on a node: of PMEM-CSI, or from a template. */
  boolean isNodePod(Pod pod) {
    String name = resource.getMetadata().getName();
    return (NodeMetrics.POD_NAME.equals(Fields.label(pod, "app.kubernetes.io/name"))
            && driver().equals(Fields.label(pod, "app.kubernetes.io/instance")))
        || ((name + "-node").equals(Fields.label(pod, CSIDriverDeployment.GROUP + "/daemonset"))
            && Objects.equals(
                resource.getMetadata().getNamespace(), pod.getMetadata().getNamespace()));
  }

  /** Empty for a new resource. */
  String phase() {
    return text("state").isEmpty() ? text("phase") : phaseOfState();
  }

  /**
   * Drivers from templates have a state and no phase; the operator's metrics use the same words.
   */
  private String phaseOfState() {
    if (!text("state").equals(CSIDriverDeploymentStatus.STATE_MANAGED)) {
      return text("state");
    }
    if (has(DriverCondition.SYNC_SUCCESSFUL, StandardCondition.FALSE)) {
      return PmemCSIDeploymentStatus.PHASE_FAILED;
    }
    return has(DriverCondition.AVAILABLE, StandardCondition.TRUE) ? "Available" : "NotAvailable";
  }

  /** Why it is in this phase. */
  String reason() {
    return text("reason").isEmpty()
        ? condition(StandardCondition.READY).map(Condition::message).orElse("")
        : text("reason");
  }

  List<Condition> conditions() {
    return Fields.entries(resource, "status", "conditions").stream()
        .map(
            entry ->
                new Condition(
                    Fields.text(entry, "type"),
                    Fields.text(entry, "status"),
                    Fields.text(entry, "message").isEmpty()
                        ? Fields.text(entry, "reason")
                        : Fields.text(entry, "message")))
        .toList();
  }

  List<Component> components() {
    return Fields.entries(resource, "status", "driverComponents").stream()
        .map(
            entry ->
                new Component(
                    Fields.text(entry, "component"),
                    Fields.text(entry, "status"),
                    Fields.text(entry, "reason")))
        .toList();
  }

  /** What is wrong, the most important first; never empty for a driver that is not ready. */
  List<String> problems() {
    var problems = new ArrayList<String>();
    boolean failed = phase().equals(PmemCSIDeploymentStatus.PHASE_FAILED);
    if (failed) {
      problems.add("Failed: " + reason());
    }
    components().stream()
        .filter(component -> component.status().equals(DriverComponent.NOT_READY))
        .map(component -> "%s is NotReady: %s".formatted(component.name(), component.reason()))
        .forEach(problems::add);
    conditions().stream()
        .filter(condition -> StandardCondition.isProblem(condition.type(), condition.status()))
        .filter(condition -> !failed || !condition.message().equals(reason()))
        .map(
            condition ->
                "%s is %s: %s".formatted(condition.type(), condition.status(), condition.message()))
        .forEach(problems::add);
    if (problems.isEmpty() && !isReady()) {
      problems.add(
          phase().isEmpty()
              ? "No operator has observed the resource: check that the operator runs"
              : "%s: %s".formatted(phase(), reason()));
    }
    staleStatus().ifPresent(problems::add);
    Fields.entries(resource, "status", "unpreparedNodes").stream()
        .map(ResourceStatus::unprepared)
        .forEach(problems::add);
    return problems;
  }

  /** Operators of releases without the condition Ready report the phase only. */
  private boolean isReady() {
    return condition(StandardCondition.READY)
        .map(ready -> ready.status().equals(StandardCondition.TRUE))
        .orElseGet(() -> phase().equals(PmemCSIDeploymentStatus.PHASE_RUNNING));
  }

  /** A status of an earlier generation says nothing about the latest change. */
  private Optional<String> staleStatus() {
    Long generation = resource.getMetadata().getGeneration();
    return Fields.entries(resource, "status", "conditions").stream()
        .filter(entry -> Fields.text(entry, "type").equals(StandardCondition.READY))
        .map(entry -> entry.get("observedGeneration"))
        .filter(Number.class::isInstance)
        .map(observed -> ((Number) observed).longValue())
        .filter(observed -> generation != null && observed < generation)
        .map(
            observed ->
                ("The status is of generation %d, the resource has %d: if that stays so, check"
                        + " that the operator runs")
                    .formatted(observed, generation))
        .findFirst();
  }

  private static String unprepared(Map<?, ?> node) {
    String reason = Fields.text(node, "reason");
    return "Node %s runs the driver but has no memory%s"
        .formatted(Fields.text(node, "node"), reason.isEmpty() ? "" : ": " + reason);
  }

  private Optional<Condition> condition(String type) {
    return conditions().stream().filter(condition -> condition.type().equals(type)).findFirst();
  }

  private boolean has(String type, String status) {
    return condition(type).filter(found -> found.status().equals(status)).isPresent();
  }

  private String text(String field) {
    return Fields.text(resource.get("status", field));
  }
}
