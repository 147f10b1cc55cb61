package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;

/** The API server does not accept a desired object. */
public final class RefusedObjectException extends KubernetesClientException {

  private final transient HasMetadata object;
  private final transient List<StatusCause> causes;

  public RefusedObjectException(HasMetadata object, KubernetesClientException refusal) {
    super(
        "the API server refuses %s: %s"
            .formatted(
                ObjectRef.of(object),
                refusal.getStatus() == null
                    ? refusal.getMessage()
                    : refusal.getStatus().getMessage()),
        refusal,
        refusal.getCode(),
        refusal.getStatus(),
        null);
    this.object = object;
    this.causes =
        refusal.getStatus() == null || refusal.getStatus().getDetails() == null
            ? List.of()
            : List.copyOf(refusal.getStatus().getDetails().getCauses());
  }

  /** The desired object. */
  public HasMetadata object() {
    return object;
  }

  /** Per field, if the server reports them. */
  public List<StatusCause> causes() {
    return causes;
  }
}
