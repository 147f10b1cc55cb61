package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.Outcome;
import java.util.List;

/** Receives what the reconcilers did. */
public interface OutcomeListener {

  /** The engine has applied a resource, or removed its objects. */
  void applied(HasMetadata resource, Outcome outcome);

  /** The objects that a resource owns now. */
  void ownedObjects(HasMetadata resource, List<HasMetadata> objects);

  /** The phase of a resource, perhaps unchanged. */
  void phase(HasMetadata resource, String phase);

  /** A resource was deleted: its metrics end. */
  void deleted(HasMetadata resource);
}
