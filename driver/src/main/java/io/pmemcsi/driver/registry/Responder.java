package io.pmemcsi.driver.registry;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.csi.GrpcResponder;
import java.util.function.Supplier;

/** The one place where failures of the controller become status codes. */
final class Responder {

  private Responder() {}

  /** Responds to a call with the result of the work, or with the status of its failure. */
  static <T> void respond(StreamObserver<T> observer, Supplier<T> work) {
    GrpcResponder.respond(
        observer,
        () -> {
          try {
            return work.get();
          } catch (RegistryException e) {
            throw new CsiStatusException(code(e), e.text());
          }
        });
  }

  private static Status.Code code(RegistryException failure) {
    return switch (failure) {
      case RegistryException.InvalidRequest _ -> Status.Code.INVALID_ARGUMENT;
      case RegistryException.NotFound _ -> Status.Code.NOT_FOUND;
      case RegistryException.OnOtherNode _ -> Status.Code.ALREADY_EXISTS;
      case RegistryException.InsufficientCapacity _ -> Status.Code.RESOURCE_EXHAUSTED;
      case RegistryException.Unfinished _ -> Status.Code.ABORTED;
      case RegistryException.Cancelled _ -> Status.Code.CANCELLED;
      case RegistryException.Unavailable _ -> Status.Code.UNAVAILABLE;
      case RegistryException.NodeFailed failed -> failed.status().code();
    };
  }
}
