package io.pmemcsi.api;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A condition with the fields that {@code kubectl wait} and GitOps tools read, whichever others its
 * kind documents.
 *
 * @param <C> the condition itself
 */
public interface StandardCondition<C extends StandardCondition<C>> {

  /** The condition that every kind has: whether the driver can be used. */
  String READY = "Ready";

  String TRUE = "True";
  String FALSE = "False";

  /** Conditions that exist only while something is wrong. */
  Set<String> NEGATIVE = Set.of("Contested", "DeletionHeld", "NodesLost", "SnapshotClassesMissing");

  /**
   * Whether a user must know of a condition with this status. Ready only sums up the others and the
   * phase.
   */
  static boolean isProblem(String type, String status) {
    return !type.equals(READY) && status.equals(NEGATIVE.contains(type) ? TRUE : FALSE);
  }

  String type();

  String status();

  @Nullable Instant lastTransitionTime();

  /** Whether both are equal apart from their times. */
  boolean equalsIgnoringTime(C other);

  /**
   * This condition, changed now.
   *
   * @param transition when its status changed last
   */
  C changed(Instant transition, Instant now);
}
