package io.pmemcsi.embedded.store;

import java.util.Comparator;

/**
 * Where an object is kept; all versions of a kind share one place.
 *
 * @param namespace "" for cluster-scoped objects
 */
public record Key(String group, String plural, String namespace, String name)
    implements Comparable<Key> {
  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::group)
          .thenComparing(Key::plural)
          .thenComparing(Key::namespace)
          .thenComparing(Key::name);

  /** Whether the object is of a kind and, unless "" is given, in a namespace. */
  public boolean in(String wantedGroup, String wantedPlural, String wantedNamespace) {
    return group.equals(wantedGroup)
        && plural.equals(wantedPlural)
        && (wantedNamespace.isEmpty() || namespace.equals(wantedNamespace));
  }

  @Override
  public int compareTo(Key other) {
    return ORDER.compare(this, other);
  }
}
