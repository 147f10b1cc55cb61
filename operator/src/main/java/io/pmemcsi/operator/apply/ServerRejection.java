package io.pmemcsi.operator.apply;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_INTERNAL_ERROR;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** What a failed apply means. */
record ServerRejection(KubernetesClient client) {

  static final int UNPROCESSABLE = 422;

  /** The reasons with which the server rejects changes of immutable fields. */
  private static final Set<String> FIELD_REASONS =
      Set.of("FieldValueInvalid", "FieldValueForbidden");

  /**
   * The API server's texts for immutable fields, the same from 1.20 on. The reasons and a dry run
   * are not enough: a Service's node port is allocated after both.
   */
  private static final Pattern IMMUTABLE =
      Pattern.compile("immutable|cannot change roleRef|updates to .*forbidden", Pattern.DOTALL);

  /** A field that the server's version does not have: its code is 500, as for a failure. */
  private static final String UNDECLARED = "field not declared in schema";

  /** The exception to throw instead. */
  RuntimeException classify(KubernetesClientException e, HasMetadata desired) {
    if (String.valueOf(e.getMessage()).contains(UNDECLARED)) {
      return new RefusedObjectException(desired, e);
    }
    if (e.getCode() != UNPROCESSABLE) {
      return e;
    }
    return isChangeRejected(e) && isAcceptedAsNew(desired)
        ? new ImmutableFieldException(ObjectRef.of(desired), e)
        : new RefusedObjectException(desired, e);
  }

  /** By validation of fields; an admission policy names no field. */
  private static boolean isChangeRejected(KubernetesClientException e) {
    var details = e.getStatus() == null ? null : e.getStatus().getDetails();
    List<StatusCause> causes = details == null ? List.of() : details.getCauses();
    return !causes.isEmpty()
        && causes.stream()
            .allMatch(
                cause ->
                    cause.getField() != null
                        && FIELD_REASONS.contains(cause.getReason())
                        && IMMUTABLE.matcher(String.valueOf(cause.getMessage())).find());
  }

  /**
   * Whether the object is valid by itself, so that only the change is not: the server validates a
   * new object before it notices that the name is taken.
   */
  private boolean isAcceptedAsNew(HasMetadata desired) {
    try {
      client.raw(ApiPath.ofCollection(desired) + "?dryRun=All", "POST", desired);
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() < 1 || e.getCode() >= HTTP_INTERNAL_ERROR) {
        throw e;
      }
      return e.getCode() == HTTP_CONFLICT;
    }
  }
}
