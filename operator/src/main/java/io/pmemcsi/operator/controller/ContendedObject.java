package io.pmemcsi.operator.controller;

import io.pmemcsi.operator.apply.DriftBackoff;
import io.pmemcsi.operator.facts.RequeuePeriods;
import java.util.List;
import java.util.stream.Collectors;

/** Describes objects whose drift another controller causes again after each repair. */
final class ContendedObject {

  private ContendedObject() {}

  static String describe(List<DriftBackoff.Contention> contentions) {
    return contentions.stream().map(ContendedObject::describe).collect(Collectors.joining("; "))
        + ": let it leave the object alone, or set here what it wants; the drift is now reverted"
        + " every"
        + " %d seconds only".formatted(RequeuePeriods.DEFAULT.contended().toSeconds());
  }

  private static String describe(DriftBackoff.Contention contention) {
    return contention.managers().isEmpty()
        ? "%s is deleted again and again (the audit log of the API server shows by whom)"
            .formatted(contention.object())
        : "%s is changed again and again by %s"
            .formatted(
                contention.object(),
                contention.managers().stream()
                    .map("\"%s\""::formatted)
                    .collect(Collectors.joining(", ")));
  }
}
