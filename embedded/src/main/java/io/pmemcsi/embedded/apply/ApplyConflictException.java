package io.pmemcsi.embedded.apply;

import io.pmemcsi.embedded.apply.Managers.ManagerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** An apply without force would change fields that other managers own. */
public final class ApplyConflictException extends RuntimeException {
  private final transient List<Conflict> conflicts;

  /** A field and its owner. */
  public record Conflict(String manager, String field) {}

  private ApplyConflictException(List<Conflict> conflicts) {
    super(
        "Apply failed with %d conflict%s: %s"
            .formatted(
                conflicts.size(),
                conflicts.size() == 1 ? "" : "s",
                conflicts.stream()
                    .map(one -> "conflict with \"%s\": %s".formatted(one.manager(), one.field()))
                    .collect(Collectors.joining(", "))));
    this.conflicts = conflicts;
  }

  static ApplyConflictException of(Map<ManagerId, FieldSet> owners) {
    List<Conflict> conflicts = new ArrayList<>();
    owners.forEach(
        (owner, fields) ->
            fields
                .paths()
                .forEach(
                    path ->
                        conflicts.add(
                            new Conflict(
                                owner.name(),
                                path.stream()
                                    .map(PathElement::shown)
                                    .collect(Collectors.joining())))));
    return new ApplyConflictException(conflicts);
  }

  public List<Conflict> conflicts() {
    return conflicts;
  }
}
