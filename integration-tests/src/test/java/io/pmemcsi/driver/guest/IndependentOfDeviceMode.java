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
 * A test that does not depend on the device mode: it runs in LVM mode, and in direct mode only in
 * campaigns, because a JVM in the guest is slow.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(IndependentOfDeviceMode.Condition.class)
@interface IndependentOfDeviceMode {

  /** Skips the test if another mode runs it. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return context.getRequiredTestClass() == DirectDriverIT.class && !DriverInGuest.CAMPAIGN
          ? ConditionEvaluationResult.disabled(
              "LvmDriverIT runs it, make campaign runs it in this mode")
          : ConditionEvaluationResult.enabled("this mode runs the test");
    }
  }
}
