package io.pmemcsi.operator.tools.diff;

import io.pmemcsi.operator.apply.ObjectRef;

/**
 * What would become of one object.
 *
 * @param hunks the difference as text; empty for no change
 */
public record ObjectDiff(ObjectRef object, Fate fate, String hunks) {

  /** In which way an object would change. */
  public enum Fate {
    CREATED("created"),
    CHANGED("changed"),
    RECREATED("deleted and created again"),
    DELETED("deleted"),
    UNCHANGED("unchanged");

    private final String text;

    Fate(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  String describe() {
    return fate == Fate.UNCHANGED ? "" : "%s: %s\n%s".formatted(object, fate.text(), hunks);
  }
}
