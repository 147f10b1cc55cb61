package io.pmemcsi.operator.apply;

import java.util.List;

/**
 * What one run of the engine did.
 *
 * @param applied written because they were missing or differed
 * @param recreated deleted and created again because a field is immutable
 * @param pruned deleted because they are no longer desired
 * @param pending still being deleted, or to be deleted after those that are
 * @param conflicts not owned, under a desired name: while there is one, nothing is written
 */
public record Outcome(
    List<ObjectRef> applied,
    List<ObjectRef> recreated,
    List<ObjectRef> pruned,
    List<ObjectRef> pending,
    List<ObjectRef> conflicts) {

  public Outcome {
    applied = List.copyOf(applied);
    recreated = List.copyOf(recreated);
    pruned = List.copyOf(pruned);
    pending = List.copyOf(pending);
    conflicts = List.copyOf(conflicts);
  }

  /** Whether the cluster has exactly the desired objects. */
  public boolean complete() {
    return pending.isEmpty() && conflicts.isEmpty();
  }

  /** Whether anything was written. */
  public boolean changedSomething() {
    return !applied.isEmpty() || !recreated.isEmpty() || !pruned.isEmpty();
  }
}
