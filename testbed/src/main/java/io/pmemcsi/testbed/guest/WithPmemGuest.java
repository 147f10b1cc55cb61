package io.pmemcsi.testbed.guest;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Lets a test class take a {@link PmemGuest} as a parameter. All classes of one JVM that want the
 * same hardware share one guest; what they leave in it, or on its NVDIMMs, is theirs to clean up.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(PmemGuestExtension.class)
public @interface WithPmemGuest {
  int nvdimms() default 2;

  int nvdimmMiB() default 2048;
}
