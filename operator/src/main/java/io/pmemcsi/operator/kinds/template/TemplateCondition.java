package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.StandardCondition.FALSE;
import static io.pmemcsi.api.StandardCondition.TRUE;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;

/** The conditions of a CSIDriverDeployment; {@link TemplateEventMessages} has their events. */
enum TemplateCondition {
  SYNC_SUCCESSFUL(DriverCondition.SYNC_SUCCESSFUL),
  AVAILABLE(DriverCondition.AVAILABLE),
  /** While volumes block the deletion. */
  DELETION_HELD(Hold.CONDITION);

  private final String type;

  TemplateCondition(String type) {
    this.type = type;
  }

  String type() {
    return type;
  }

  boolean is(DriverCondition condition) {
    return condition.type().equals(type);
  }

  static boolean isTrue(DriverCondition condition) {
    return condition.status().equals(TRUE);
  }

  static boolean isFalse(DriverCondition condition) {
    return condition.status().equals(FALSE);
  }

  boolean isTrueIn(CSIDriverDeploymentStatus status) {
    return status.condition(type).filter(TemplateCondition::isTrue).isPresent();
  }

  boolean isFalseIn(CSIDriverDeploymentStatus status) {
    return status.condition(type).filter(TemplateCondition::isFalse).isPresent();
  }

  DriverCondition isTrue(TemplateReason reason, String message) {
    return new DriverCondition(type, TRUE, reason.text(), message);
  }

  DriverCondition isFalse(TemplateReason reason, String message) {
    return new DriverCondition(type, FALSE, reason.text(), message);
  }
}
