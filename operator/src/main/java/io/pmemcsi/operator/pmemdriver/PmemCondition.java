package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.StandardCondition.FALSE;
import static io.pmemcsi.api.StandardCondition.TRUE;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.util.Arrays;
import java.util.Optional;

/** The conditions of PMEM-CSI resources, how long they stay, and which events they raise. */
public enum PmemCondition {
  CERTS_VERIFIED(
      DeploymentCondition.CERTS_VERIFIED,
      Lifetime.WHILE_NAMED,
      Raises.WHEN_FALSE,
      "CertsNotVerified"),
  CERTS_READY(DeploymentCondition.CERTS_READY, Lifetime.WHILE_NAMED, Raises.NOTHING),
  DRIVER_DEPLOYED(DeploymentCondition.DRIVER_DEPLOYED, Lifetime.PERMANENT, Raises.NOTHING),
  /** False while another driver manages the memory of the same nodes. */
  NODES_EXCLUSIVE("NodesExclusive", Lifetime.PERMANENT, Raises.NOTHING),
  /** While volumes are bound to nodes that do not exist any more. */
  NODES_LOST("NodesLost", Lifetime.WHILE_OBSERVED, Raises.WHEN_NEW),
  /** While snapshot classes are desired in a cluster that cannot have them. */
  SNAPSHOT_CLASSES_MISSING("SnapshotClassesMissing", Lifetime.WHILE_TRUE, Raises.WHEN_NEW),
  /** While volumes block the deletion. */
  DELETION_HELD(Hold.CONDITION, Lifetime.WHILE_TRUE, Raises.WHEN_NEW),
  /** While another controller keeps changing objects of the driver. */
  CONTESTED("Contested", Lifetime.WHILE_TRUE, Raises.WHEN_NEW);

  /** How long a condition stays that is not observed any more. */
  enum Lifetime {
    PERMANENT,
    /** Until the resource names no certificates any more. */
    WHILE_NAMED,
    /** Until the search for lost nodes finds none. */
    WHILE_OBSERVED,
    WHILE_TRUE
  }

  /** When a condition raises a warning event. */
  enum Raises {
    NOTHING,
    WHEN_NEW,
    /** If the driver runs despite it; otherwise the phase raises one. */
    WHEN_FALSE
  }

  private final String type;
  private final Lifetime lifetime;
  private final Raises raises;
  private final String eventReason;

  /** With its type as the reason of the event. */
  PmemCondition(String type, Lifetime lifetime, Raises raises) {
    this(type, lifetime, raises, type);
  }

  PmemCondition(String type, Lifetime lifetime, Raises raises, String eventReason) {
    this.type = type;
    this.lifetime = lifetime;
    this.raises = raises;
    this.eventReason = eventReason;
  }

  String type() {
    return type;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  Raises raises() {
    return raises;
  }

  String eventReason() {
    return eventReason;
  }

  /** Empty for a condition of a release that knows more of them. */
  static Optional<PmemCondition> of(DeploymentCondition condition) {
    return Arrays.stream(values()).filter(one -> one.is(condition)).findFirst();
  }

  boolean is(DeploymentCondition condition) {
    return condition.type().equals(type);
  }

  boolean isFalse(DeploymentCondition condition) {
    return is(condition) && condition.status().equals(FALSE);
  }

  DeploymentCondition isTrue(String reason) {
    return new DeploymentCondition(type, TRUE, reason, null);
  }

  DeploymentCondition isTrue(String reason, String message) {
    return new DeploymentCondition(type, TRUE, reason, message);
  }

  DeploymentCondition isFalse(String reason) {
    return new DeploymentCondition(type, FALSE, reason, null);
  }

  DeploymentCondition isFalse(String reason, String message) {
    return new DeploymentCondition(type, FALSE, reason, message);
  }
}
