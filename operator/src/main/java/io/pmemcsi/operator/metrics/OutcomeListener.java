package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Receives what the reconcilers did. */
public interface OutcomeListener {

  /** The engine has applied a resource, or removed its objects. */
  void applied(HasMetadata resource, Outcome outcome);

  /** The objects that a resource owns now. */
  void ownedObjects(HasMetadata resource, List<HasMetadata> objects);

  /** What the status of a resource says, perhaps unchanged. */
  void status(HasMetadata resource, String phase, Optional<Instant> certificateExpires);

  /** A resource was deleted: its metrics end. */
  void deleted(HasMetadata resource);
}
