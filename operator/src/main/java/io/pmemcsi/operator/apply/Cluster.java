package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The engine's view of a cluster. Reads may come from caches; every write names the version or the
 * uid of the object that was read, so that a stale cache leads to a conflict and not to damage.
 */
public interface Cluster {

  /** The object with this kind and name; asks the server when the cache has none. */
  Optional<HasMetadata> find(HasMetadata desired);

  /**
   * Sends requests that do not depend on each other, perhaps concurrently.
   *
   * @return the results, in the order of the items
   * @throws RuntimeException that of the first item that failed
   */
  default <T, R> List<R> sendAll(List<T> items, Function<T, R> request) {
    return items.stream().map(request).toList();
  }

  /** Every cached object with the owner's labels, except copies that users made. */
  List<HasMetadata> ownedBy(Owner owner);

  /**
   * The owner's objects that the garbage collector would not delete after it, as the server has
   * them now. A watch may lag, and what it shows after the owner was deleted would stay for ever.
   */
  default List<HasMetadata> notGarbageCollected(Owner owner) {
    return List.of();
  }

  /**
   * The owner's objects that the garbage collector would delete after it, as the server has them
   * now. An object that must outlive the owner must not be missed because a watch lags.
   */
  default List<HasMetadata> garbageCollected(Owner owner) {
    return List.of();
  }

  /** Whether applying the desired object would change nothing. */
  boolean matches(HasMetadata actual, HasMetadata desired);

  /** Whether drift of the object is not reverted now, because it would come back at once. */
  default boolean inBackoff(HasMetadata desired) {
    return false;
  }

  /**
   * Creates an object that must not exist yet.
   *
   * @throws NotOwnedException if an object with this name was created since it was searched for
   */
  HasMetadata create(HasMetadata desired);

  /** Takes ownership of every field of an object that was just created. */
  void claimFields(HasMetadata created, HasMetadata desired);

  /**
   * Asks the server whether it would accept the desired object.
   *
   * @throws RefusedObjectException if not
   */
  void dryRun(HasMetadata desired);

  /**
   * Applies the desired values to this very object, and overwrites those of other managers.
   *
   * @throws ImmutableFieldException if the server never allows this change
   */
  void apply(HasMetadata actual, HasMetadata desired);

  /**
   * Deletes this very object.
   *
   * @param propagation foreground for a workload that must not vanish before its pods
   * @return whether it no longer exists; false for example while a finalizer holds it
   */
  boolean delete(HasMetadata actual, DeletionPropagation propagation);

  /** Removes the owner reference from this very object, so that it is not garbage-collected. */
  void release(HasMetadata actual, Owner owner);
}
