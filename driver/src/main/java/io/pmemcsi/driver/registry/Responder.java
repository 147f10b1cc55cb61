package io.pmemcsi.driver.registry;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.state.StateException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns the outcome of work into the answer of a call. */
final class Responder {

  private static final Logger LOG = LoggerFactory.getLogger(Responder.class);

  private Responder() {}

  static <T> void respond(StreamObserver<T> observer, Supplier<T> work) {
    T response;
    try {
      response = work.get();
    } catch (RuntimeException e) {
      observer.onError(status(e).asRuntimeException());
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }

  private static Status status(RuntimeException failure) {
    return switch (failure) {
      case StatusRuntimeException refused ->
          refused.getStatus().getCode().toStatus().withDescription(Failures.text(refused));
      case CsiStatusException refused ->
          refused.code().toStatus().withDescription(refused.getMessage());
      case StateException state -> Status.INTERNAL.withDescription(state.getMessage());
      default -> {
        LOG.atError().setCause(failure).log("Unexpected failure.");
        yield Status.INTERNAL.withDescription(
            "unexpected failure, the controller's log says more: " + Reason.of(failure));
      }
    };
  }
}
