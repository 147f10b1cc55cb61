package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts how a CSI call fails. */
final class CsiAssert {

  /** Class names, which must not appear in error messages. */
  static final Pattern NAME_OF_A_CLASS = Pattern.compile("\\w\\.\\w+(Exception|Error)\\b");

  private final Status status;

  private CsiAssert(Status status) {
    this.status = status;
  }

  static CsiAssert assertThatCall(ThrowingCallable call) {
    StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call);
    assertThat(failure).as("the call succeeded").isNotNull();
    return new CsiAssert(failure.getStatus());
  }

  /**
   * Asserts the code and a part of the message, which always names the node and has no class names.
   */
  CsiAssert fails(Status.Code code, String message) {
    assertThat(status.getCode()).as("%s", status).isEqualTo(code);
    assertThat(status.getDescription()).startsWith(FileModeDriver.NODE + ": ");
    assertThat(status.getDescription()).doesNotContainPattern(NAME_OF_A_CLASS);
    return saying(message);
  }

  CsiAssert fails(Status.Code code) {
    return fails(code, "");
  }

  CsiAssert saying(String part) {
    assertThat(status.getDescription()).contains(part);
    return this;
  }
}
