package io.pmemcsi.driver.csi;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.mount.DaxMissingException;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.VolumeException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place where failures become status codes. */
public final class GrpcResponder {

  private static final Logger LOG = LoggerFactory.getLogger(GrpcResponder.class);

  private GrpcResponder() {}

  /** Responds to a call with the result of the work, or with the status of its failure. */
  public static <T> void respond(StreamObserver<T> observer, Supplier<T> work) {
    T response;
    try {
      response = work.get();
    } catch (RuntimeException e) {
      observer.onError(status(e).asRuntimeException());
      return;
    } catch (VirtualMachineError e) {
      LOG.atError().setCause(e).log("The driver is out of memory or stack.");
      observer.onError(
          Status.INTERNAL
              .withDescription("the driver is out of memory or stack: " + words(e))
              .asRuntimeException());
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }

  static Status status(RuntimeException failure) {
    return switch (failure) {
      case CsiStatusException refused ->
          refused.code().toStatus().withDescription(refused.getMessage());
      case VolumeException volume -> code(volume).toStatus().withDescription(volume.getMessage());
      case DeviceException device -> code(device).toStatus().withDescription(device.getMessage());
      case ToolFailedException tool -> code(tool).toStatus().withDescription(tool.getMessage());
      case DaxMissingException dax -> Status.FAILED_PRECONDITION.withDescription(dax.getMessage());
      case StateException ledger -> Status.INTERNAL.withDescription(ledger.getMessage());
      default -> {
        LOG.atError().setCause(failure).log("Unexpected failure.");
        yield Status.INTERNAL.withDescription(
            "unexpected failure, the driver's log says more: " + words(failure));
      }
    };
  }

  /** The message, unless it is the JDK's, which names a failure inside by its class. */
  private static String words(Throwable failure) {
    String message = failure.getMessage();
    Throwable cause = failure.getCause();
    return message == null || (cause != null && message.equals(cause.toString()))
        ? Reason.withFile(failure)
        : message;
  }

  private static Status.Code code(VolumeException failure) {
    return switch (failure) {
      case VolumeException.InvalidRequest _ -> Status.Code.INVALID_ARGUMENT;
      case VolumeException.NotFound _ -> Status.Code.NOT_FOUND;
      case VolumeException.Incompatible _ -> Status.Code.ALREADY_EXISTS;
      case VolumeException.PreconditionFailed _ -> Status.Code.FAILED_PRECONDITION;
      case VolumeException.SizeOutOfRange _ -> Status.Code.OUT_OF_RANGE;
      case VolumeException.Unfinished _ -> Status.Code.ABORTED;
      case VolumeException.Cancelled _ -> Status.Code.CANCELLED;
      case VolumeException.Failed _ -> Status.Code.INTERNAL;
    };
  }

  private static Status.Code code(DeviceException failure) {
    return switch (failure) {
      case DeviceException.NotFound _ -> Status.Code.NOT_FOUND;
      case DeviceException.InUse _ -> Status.Code.FAILED_PRECONDITION;
      case DeviceException.NotEnoughSpace _ -> Status.Code.RESOURCE_EXHAUSTED;
      case DeviceException.Unsupported _ -> Status.Code.FAILED_PRECONDITION;
      case DeviceException.Exists _ -> Status.Code.INTERNAL;
      case DeviceException.ToolFailed failed ->
          failed.getCause() instanceof ToolFailedException tool ? code(tool) : Status.Code.INTERNAL;
    };
  }

  private static Status.Code code(ToolFailedException failure) {
    return switch (failure.reason()) {
      case CANCELLED -> Status.Code.CANCELLED;
      case TIMEOUT -> Status.Code.DEADLINE_EXCEEDED;
      case NOT_STARTED, EXIT_CODE, OUTPUT -> Status.Code.INTERNAL;
    };
  }
}
