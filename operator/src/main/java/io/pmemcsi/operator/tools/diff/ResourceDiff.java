package io.pmemcsi.operator.tools.diff;

import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.tools.diff.ObjectDiff.Fate;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What applying one resource would change.
 *
 * @param conflicts objects of others in the way: the operator would write nothing
 * @param notes what else a user must know
 */
public record ResourceDiff(
    List<ObjectDiff> objects, List<ObjectRef> conflicts, List<String> notes) {

  public ResourceDiff {
    objects = List.copyOf(objects);
    conflicts = List.copyOf(conflicts);
    notes = List.copyOf(notes);
  }

  public boolean isEmpty() {
    return conflicts.isEmpty()
        && objects.stream().allMatch(object -> object.fate() == Fate.UNCHANGED);
  }

  /** For a person, with the counts in the last line. */
  public String describe() {
    String changes = objects.stream().map(ObjectDiff::describe).collect(Collectors.joining());
    String refusals =
        conflicts.stream()
            .map(
                object ->
                    "%s: exists, but was not created for this resource: the operator would write"
                            .formatted(object)
                        + " nothing until it is deleted\n")
            .collect(Collectors.joining());
    return changes
        + refusals
        + notes.stream().map(note -> note + "\n").collect(Collectors.joining())
        + "%d created, %d changed, %d deleted and created again, %d deleted, %d unchanged\n"
            .formatted(
                count(Fate.CREATED),
                count(Fate.CHANGED),
                count(Fate.RECREATED),
                count(Fate.DELETED),
                count(Fate.UNCHANGED));
  }

  private long count(Fate fate) {
    return objects.stream().filter(object -> object.fate() == fate).count();
  }
}
