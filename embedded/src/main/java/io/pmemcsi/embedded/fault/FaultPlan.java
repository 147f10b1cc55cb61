package io.pmemcsi.embedded.fault;

/** Selects the fault of each request and event. Called from many threads. */
public interface FaultPlan {
  /** A plan without faults. */
  FaultPlan NONE = new FaultPlan() {};

  default RequestFault onRequest(SeenRequest request) {
    return RequestFault.NONE;
  }

  default EventFault onEvent(SeenEvent event) {
    return EventFault.NONE;
  }
}
