package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;

/** The reasons of the conditions of a CSIDriverDeployment. */
enum TemplateReason {
  // Available
  READY("Ready"),
  NOT_STARTED("NotStarted"),
  NO_NODES("NoNodes"),
  NOT_READY("NotReady"),
  OUTDATED_NODES("OutdatedNodes"),
  UPDATING("Updating"),
  // SyncSuccessful
  SYNCED("Synced"),
  INVALID("Invalid"),
  CONFLICT("Conflict"),
  DRIVER_IN_USE("DriverInUse"),
  FOREIGN_OBJECT("ForeignObject"),
  WAITING("Waiting"),
  CONTESTED("Contested"),
  NAMESPACE_TERMINATING("NamespaceTerminating"),
  SERVER_ERROR("ServerError"),
  OPERATOR_ERROR("OperatorError"),
  // DeletionHeld
  VOLUMES_IN_USE(Hold.REASON);

  private final String text;

  TemplateReason(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  static TemplateReason of(Problem.Cause cause) {
    return switch (cause) {
      case INVALID, CERTIFICATES -> INVALID;
      case CONFLICT -> CONFLICT;
      case DRIVER_IN_USE -> DRIVER_IN_USE;
      case NOT_OWNED -> FOREIGN_OBJECT;
      case WAITING -> WAITING;
      case CONTENDED -> CONTESTED;
      case NAMESPACE_TERMINATING -> NAMESPACE_TERMINATING;
      case REFUSED, SERVER_ERROR -> SERVER_ERROR;
      case OPERATOR_ERROR -> OPERATOR_ERROR;
    };
  }
}
