package io.pmemcsi.driver.guest;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A test of what does not depend on the device mode: LVM shows it, and direct mode is tried too in
 * campaigns. A JVM in the guest is too slow for all of it twice.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OneModeIsEnough.Condition.class)
@interface OneModeIsEnough {

  /** Leaves the test out where another mode does it. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return context.getRequiredTestClass() == DirectDriverIT.class && !DriverInGuest.CAMPAIGN
          ? ConditionEvaluationResult.disabled("LvmDriverIT does it, and here make campaign")
          : ConditionEvaluationResult.enabled("this mode is the one");
    }
  }
}
