package io.pmemcsi.testbed.kubernetes;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test a fresh namespace on a real Kubernetes API server, which all tests of a JVM share
 * and which starts when the first of them asks.
 *
 * {@snippet :
 * @WithKubernetes
 * class DeploymentIT {
 *   @Test
 *   void becomesReady(Sandbox sandbox, KubernetesClient client) {
 *     client.resource(deployment).create(); // lands in the fresh namespace
 *   }
 * }
 * }
 *
 * Parameters may be of these types:
 *
 * <ul>
 *   <li>{@link Sandbox}: the namespace, clients with limited rights, clean-up at the end
 *   <li>{@link io.fabric8.kubernetes.client.KubernetesClient}: administrator, in the fresh
 *       namespace; the same as {@link Sandbox#client()}
 *   <li>{@link Cluster}: what is shared: version, kubeconfig, servers
 * </ul>
 *
 * Each test method has a namespace of its own, unless {@link #perClass()}. Parameters of
 * {@code @BeforeAll} methods and constructors are those of the class: there is the place to install
 * custom resource definitions, with {@link Sandbox#create}. What has no namespace is seen by all
 * tests: give it unusual names.
 *
 * <p>The programs are found as {@link Binaries#find} says. Where a directory in KUBEBUILDER_ASSETS
 * has no controllers, tests that need them are skipped.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(KubernetesExtension.class)
public @interface WithKubernetes {

  /**
   * Whether the test needs controllers and scheduler. Without them nothing creates pods for
   * Deployments, collects garbage or empties deleted namespaces, but the start is quicker. When
   * other tests of the JVM needed them they run anyway.
   */
  boolean controllers() default true;

  /** Whether all test methods of the class share one namespace. */
  boolean perClass() default false;
}
