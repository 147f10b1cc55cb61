package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Optional;

/** The engine's view of a cluster: reads come from caches, writes are safe against stale ones. */
public interface Cluster {

  /** The object of the wanted one's kind and name; asks the server when the cache has none. */
  Optional<HasMetadata> find(HasMetadata wanted);

  /** The same for many, in their order. */
  default List<Optional<HasMetadata>> findAll(List<HasMetadata> wanted) {
    return wanted.stream().map(this::find).toList();
  }

  /** Every watched object that shows the owner's mark, except copies that others made. */
  List<HasMetadata> ownedBy(Owner owner);

  /**
   * The owner's objects that no garbage collector would remove after it, as the server has them
   * now: a watch may be late, and what it shows after the owner has gone stays for ever.
   */
  default List<HasMetadata> uncollected(Owner owner) {
    return List.of();
  }

  /**
   * The owner's objects that a garbage collector would remove after it, as the server has them now:
   * what is to outlive the owner must not be missed because no watch has shown it.
   */
  default List<HasMetadata> collected(Owner owner) {
    return List.of();
  }

  /** Whether the object has all wanted values, and none that we once set and no longer want. */
  boolean matches(HasMetadata actual, HasMetadata wanted);

  /** Whether an object is left as it is, or missing, for now: somebody undoes each write. */
  default boolean rests(HasMetadata wanted) {
    return false;
  }

  /**
   * Creates an object that must not exist yet.
   *
   * @throws ForeignObjectException if one of that name appeared meanwhile
   */
  HasMetadata create(HasMetadata wanted);

  /**
   * Takes note that every field of an object which was just created is ours, so that it can be
   * taken back one day.
   */
  void takeOver(HasMetadata created, HasMetadata wanted);

  /**
   * Asks whether the server would have an object as it is wanted.
   *
   * @throws RefusedObjectException if not
   */
  void rehearse(HasMetadata wanted);

  /**
   * Brings this very object to the wanted values, whoever set them last.
   *
   * @throws ImmutableFieldException if the server never allows this change
   */
  void apply(HasMetadata actual, HasMetadata wanted);

  /**
   * Deletes this very object; false while it is still on its way out, for example because of a
   * finalizer.
   */
  boolean delete(HasMetadata actual);

  /** Takes the owner reference off this very object, so that it is not collected with its owner. */
  void release(HasMetadata actual, Owner owner);
}
