package io.pmemcsi.testbed.node;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Lets a test class take a {@link RealNode} as a parameter. All classes of one JVM share one node
 * with its control plane; what they leave in the cluster is theirs to clean up. Tests are skipped
 * where the Kubernetes binaries lack a kubelet.
 */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RealNodeExtension.class)
public @interface WithRealNode {}
