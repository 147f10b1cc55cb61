package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.operator.apply.DesiredState;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a kind has decided about one resource; its own record adds what the report needs.
 *
 * @param <R> the resource
 */
public interface Plan<R extends HasMetadata> {

  Action action();

  /** Other resources that this decision concerns, to be reconciled soon. */
  default List<ResourceID> triggers() {
    return List.of();
  }

  /** What happens to the objects of a resource. */
  sealed interface Action {

    /**
     * They become as desired.
     *
     * @param dryRun objects that the server may refuse because of what the user wrote: it is asked
     *     before anything is written
     */
    record Apply(DesiredState desired, Predicate<HasMetadata> dryRun) implements Action {}

    /**
     * They stay as they are.
     *
     * @param restore the one that is created again where it is missing
     * @param overwrite the one that must not stay as it is, where it exists
     */
    record Block(Problem problem, Optional<HasMetadata> restore, Optional<HasMetadata> overwrite)
        implements Action {

      public Block(Problem problem) {
        this(problem, Optional.empty());
      }

      public Block(Problem problem, Optional<HasMetadata> restore) {
        this(problem, restore, Optional.empty());
      }
    }
  }
}
