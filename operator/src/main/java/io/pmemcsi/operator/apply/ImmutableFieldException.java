package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.regex.Pattern;

/** The server refuses a change because the field may never change. */
public final class ImmutableFieldException extends RuntimeException {

  private static final int UNPROCESSABLE = 422;

  /** The words of the API server's validation, the same from 1.20 on. */
  private static final Pattern NEVER_CHANGES =
      Pattern.compile("immutable|cannot change roleRef|updates to .*forbidden", Pattern.DOTALL);

  public ImmutableFieldException(ObjectRef object, Throwable cause) {
    super(object + " cannot be changed, only made anew: " + cause.getMessage(), cause);
  }

  /** With another cause besides, the object could be deleted but not be created again. */
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
