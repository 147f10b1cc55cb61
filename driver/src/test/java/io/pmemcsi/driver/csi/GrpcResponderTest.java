package io.pmemcsi.driver.csi;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrpcResponderTest {

  private static final Command LVCREATE = Command.of("lvcreate");

  @Test
  void theReasonOfAToolFailureReachesTheCaller() {
    assertThat(code(ToolFailedException.timedOut(LVCREATE, "")))
        .isEqualTo(code(wrapped(ToolFailedException.timedOut(LVCREATE, ""))))
        .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(code(ToolFailedException.cancelled(LVCREATE)))
        .isEqualTo(code(wrapped(ToolFailedException.cancelled(LVCREATE))))
        .isEqualTo(Status.Code.CANCELLED);
    assertThat(code(new DeviceException.ToolFailed("erase", new IOException("I/O error"))))
        .isEqualTo(Status.Code.INTERNAL);
  }

  @Test
  void eachExceptionMapsToItsStatusCode() {
    assertThat(code(new VolumeException.InvalidRequest("")))
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(code(new VolumeException.NotFound(""))).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(code(new VolumeException.Incompatible(""))).isEqualTo(Status.Code.ALREADY_EXISTS);
    assertThat(code(new VolumeException.PreconditionFailed("")))
        .isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(code(new VolumeException.SizeOutOfRange(""))).isEqualTo(Status.Code.OUT_OF_RANGE);
    assertThat(code(new VolumeException.Unfinished(""))).isEqualTo(Status.Code.ABORTED);
    assertThat(code(new VolumeException.Cancelled(""))).isEqualTo(Status.Code.CANCELLED);
    assertThat(code(new VolumeException.Failed(""))).isEqualTo(Status.Code.INTERNAL);
  }

  @Test
  void anErrorMessageContainsNoClassName() {
    IOException missing = new NoSuchFileException("/dev/pmem0");

    assertThat(description(new DeviceException.ToolFailed("erase", missing)))
        .isEqualTo("erase: /dev/pmem0: no such file or directory");
    assertThat(description(new UncheckedIOException(missing)))
        .isEqualTo(
            "unexpected failure, the driver's log says more: /dev/pmem0: no such file or directory");
    assertThat(description(new UncheckedIOException("cannot read", missing)))
        .endsWith(": cannot read");
  }

  @Test
  void anOutOfMemoryErrorIsReportedToTheCaller() {
    List<Throwable> errors = new ArrayList<>();

    GrpcResponder.respond(
        new StreamObserver<String>() {
          @Override
          public void onNext(String value) {}

          @Override
          public void onError(Throwable error) {
            errors.add(error);
          }

          @Override
          public void onCompleted() {}
        },
        () -> {
          throw new OutOfMemoryError("Cannot reserve direct buffer memory");
        });

    assertThat(errors)
        .singleElement()
        .satisfies(
            error -> {
              assertThat(Status.fromThrowable(error).getCode()).isEqualTo(Status.Code.INTERNAL);
              assertThat(error).hasMessageContaining("Cannot reserve");
            });
  }

  private static String description(RuntimeException failure) {
    return String.valueOf(GrpcResponder.status(failure).getDescription());
  }

  private static Status.Code code(RuntimeException failure) {
    return GrpcResponder.status(failure).getCode();
  }

  private static DeviceException wrapped(ToolFailedException failure) {
    return new DeviceException.ToolFailed("create", failure);
  }
}
