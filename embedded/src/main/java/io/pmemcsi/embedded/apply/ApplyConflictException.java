package io.pmemcsi.embedded.apply;

import io.pmemcsi.embedded.apply.Managers.ManagerId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Somebody else owns fields that an apply without force wants to change. */
public final class ApplyConflictException extends RuntimeException {
  private final transient List<Conflict> conflicts;

  /** One field and who owns it, both worded as the server does. */
  public record Conflict(String manager, String field) {}

  private ApplyConflictException(String message, List<Conflict> conflicts) {
    super(message);
    this.conflicts = conflicts;
  }

  static ApplyConflictException of(Map<ManagerId, FieldSet> owners) {
    List<Conflict> conflicts = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    owners.entrySet().stream()
        .sorted(Comparator.comparing(owner -> owner.getKey().name()))
        .forEach(
            owner -> {
              String manager = shown(owner.getKey());
              lines.add("conflicts with %s:".formatted(manager));
              for (List<PathElement> path : owner.getValue().paths()) {
                conflicts.add(new Conflict(manager, shown(path)));
                lines.add("- " + shown(path));
              }
            });
    if (conflicts.size() == 1) {
      Conflict only = conflicts.getFirst();
      return new ApplyConflictException(
          "Apply failed with 1 conflict: conflict with %s: %s"
              .formatted(only.manager(), only.field()),
          conflicts);
    }
    return new ApplyConflictException(
        "Apply failed with %d conflicts: %s".formatted(conflicts.size(), String.join("\n", lines)),
        conflicts);
  }

  public List<Conflict> conflicts() {
    return conflicts;
  }

  private static String shown(List<PathElement> path) {
    StringBuilder text = new StringBuilder();
    path.forEach(element -> text.append(element.shown()));
    return text.toString();
  }

  private static String shown(ManagerId id) {
    String quoted = '"' + id.name() + '"';
    if (id.applies()) {
      return quoted;
    }
    return quoted + " using " + id.apiVersion();
  }
}
