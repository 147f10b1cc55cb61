package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.error.Reason;

/** Why the API server did not do what it was asked for. */
public final class Refusal {

  private Refusal() {}

  /** The server's own words, or why there are none; the client's message repeats the request. */
  public static String reason(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? Reason.of(e) : status;
  }
}
