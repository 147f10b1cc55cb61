package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.error.Reason;

/** Why the API server rejected a request. */
public final class Refusal {

  private Refusal() {}

  /** The message of the server, without the request that the client's message repeats. */
  public static String reason(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? Reason.of(e) : status;
  }
}
