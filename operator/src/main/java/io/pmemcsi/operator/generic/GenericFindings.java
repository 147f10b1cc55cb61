package io.pmemcsi.operator.generic;

import io.pmemcsi.api.generic.Child;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.api.generic.NodeUpdate;
import java.util.List;
import java.util.Optional;

/**
 * What one look at a driver has brought to light, without any times.
 *
 * @param generation of the resource that was looked at
 * @param state Managed, Unmanaged or Removed
 * @param complete whether everything is as this generation wants it
 * @param conditions those that were looked into; others keep what they said
 * @param children empty if nobody could look
 * @param nodeUpdate how far the nodes are updated; empty to keep what was said
 */
record GenericFindings(
    long generation,
    String state,
    boolean complete,
    List<DriverCondition> conditions,
    Optional<List<Child>> children,
    Optional<NodeUpdate> nodeUpdate) {

  static final String TRUE = "True";
  static final String FALSE = "False";

  GenericFindings {
    conditions = List.copyOf(conditions);
  }

  static DriverCondition condition(String type, boolean status, String reason, String message) {
    return new DriverCondition(type, status ? TRUE : FALSE, null, reason, message);
  }
}
