package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.util.regex.Pattern;

/** What the failure of an LVM command means; the one place that reads its exit code and message. */
enum LvmFailure {
  /** A logical volume of that name exists. */
  VOLUME_EXISTS,

  /** LVM has answered no; nothing is running any more. */
  REFUSED,

  /**
   * LVM was killed or not started: the command may have taken effect, and the state of the group is
   * unknown.
   */
  NO_ANSWER;

  /** Exit code ECMD_FAILED of lvm2. */
  private static final int COMMAND_FAILED = 5;

  private static final Pattern EXISTS =
      Pattern.compile("already exists in volume group", Pattern.CASE_INSENSITIVE);

  static LvmFailure classify(ToolFailedException failure) {
    if (failure.reason() != ToolFailedException.Reason.EXIT_CODE) {
      return NO_ANSWER;
    }
    return failure.exitCode() == COMMAND_FAILED && EXISTS.matcher(failure.stderrTail()).find()
        ? VOLUME_EXISTS
        : REFUSED;
  }
}
