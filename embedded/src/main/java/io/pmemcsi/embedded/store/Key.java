package io.pmemcsi.embedded.store;

import java.util.Comparator;

/**
 * The identity of an object; all versions of a kind share it.
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

  /** Whether the object has this kind and, unless "" is given, is in this namespace. */
  public boolean in(String otherGroup, String otherPlural, String otherNamespace) {
    return group.equals(otherGroup)
        && plural.equals(otherPlural)
        && (otherNamespace.isEmpty() || namespace.equals(otherNamespace));
  }

  @Override
  public int compareTo(Key other) {
    return ORDER.compare(this, other);
  }
}
