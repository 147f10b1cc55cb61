package io.pmemcsi.embedded.fault;

/** Decides what goes wrong. Called from many threads. */
public interface FaultPlan {
  /** A plan in which nothing goes wrong. */
  FaultPlan NONE = new FaultPlan() {};

  default RequestFault onRequest(SeenRequest request) {
    return RequestFault.NONE;
  }

  default EventFault onEvent(SeenEvent event) {
    return EventFault.NONE;
  }
}
