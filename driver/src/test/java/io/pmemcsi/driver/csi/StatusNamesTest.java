package io.pmemcsi.driver.csi;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class StatusNamesTest {

  /** {@code google.golang.org/grpc/codes} has these. */
  @Test
  void allCodesAreSpelledAsInGo() {
    assertThat(Arrays.stream(Status.Code.values()).map(StatusNames::of))
        .containsExactly(
            "OK",
            "Canceled",
            "Unknown",
            "InvalidArgument",
            "DeadlineExceeded",
            "NotFound",
            "AlreadyExists",
            "PermissionDenied",
            "ResourceExhausted",
            "FailedPrecondition",
            "Aborted",
            "OutOfRange",
            "Unimplemented",
            "Internal",
            "Unavailable",
            "DataLoss",
            "Unauthenticated");
  }
}
