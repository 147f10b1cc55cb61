package io.pmemcsi.operator.apply;

import java.util.List;

/**
 * What one run of the engine did.
 *
 * @param applied written because they were missing or differed
 * @param recreated deleted and created again because a difference cannot be written
 * @param pruned deleted because they are no longer wanted
 * @param unchanged found as wanted
 * @param pending on their way out, to be created again or forgotten once they are gone
 * @param conflicts of the same name but not ours: while there is one, nothing is written
 */
public record Outcome(
    List<ObjectRef> applied,
    List<ObjectRef> recreated,
    List<ObjectRef> pruned,
    List<ObjectRef> unchanged,
    List<ObjectRef> pending,
    List<ObjectRef> conflicts) {

  public Outcome {
    applied = List.copyOf(applied);
    recreated = List.copyOf(recreated);
    pruned = List.copyOf(pruned);
    unchanged = List.copyOf(unchanged);
    pending = List.copyOf(pending);
    conflicts = List.copyOf(conflicts);
  }

  /** Whether the cluster holds exactly what is wanted. */
  public boolean complete() {
    return pending.isEmpty() && conflicts.isEmpty();
  }

  /** Whether anything was written. */
  public boolean changedSomething() {
    return !applied.isEmpty() || !recreated.isEmpty() || !pruned.isEmpty();
  }
}
