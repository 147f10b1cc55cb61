package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.Outcome;
import java.util.List;

/** Is told what the reconcilers did. */
public interface OutcomeListener {

  /** The engine has run for a resource. */
  void brought(HasMetadata resource, Outcome outcome);

  /** These are the objects of a resource now. */
  void owns(HasMetadata resource, List<HasMetadata> objects);

  /** A resource is in a phase, perhaps the same as before. */
  void phase(HasMetadata resource, String phase);

  /** A resource is gone, and nothing is to be said about it any more. */
  void gone(HasMetadata resource);
}
