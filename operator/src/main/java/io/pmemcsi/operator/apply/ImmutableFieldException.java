package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.regex.Pattern;

/** The API server rejects a change of an immutable field. */
public final class ImmutableFieldException extends RuntimeException {

  private static final int UNPROCESSABLE = 422;

  /** The messages of the API server's validation, unchanged since 1.20. */
  private static final Pattern NEVER_CHANGES =
      Pattern.compile("immutable|cannot change roleRef|updates to .*forbidden", Pattern.DOTALL);

  public ImmutableFieldException(ObjectRef object, Throwable cause) {
    super(object + " has an immutable field and must be recreated: " + cause.getMessage(), cause);
  }

  /** If there are other causes too, the object could be deleted but not created again. */
  static boolean isCauseOf(KubernetesClientException e) {
    if (e.getCode() != UNPROCESSABLE) {
      return false;
    }
    var details = e.getStatus() == null ? null : e.getStatus().getDetails();
    if (details == null || details.getCauses().isEmpty()) {
      return NEVER_CHANGES.matcher(message(e)).find();
    }
    return details.getCauses().stream()
        .allMatch(cause -> NEVER_CHANGES.matcher(String.valueOf(cause.getMessage())).find());
  }

  private static String message(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? String.valueOf(e.getMessage()) : status;
  }
}
