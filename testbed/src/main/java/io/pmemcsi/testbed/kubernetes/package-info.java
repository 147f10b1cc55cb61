/**
 * A real Kubernetes control plane for tests: etcd, API server, controllers and scheduler on
 * loopback, one per JVM, with a fresh namespace for every test. Start reading at {@link
 * io.pmemcsi.testbed.kubernetes.WithKubernetes}, which is also all that most tests need; {@link
 * io.pmemcsi.testbed.kubernetes.Sandbox} is what a test gets.
 */
@NullMarked
package io.pmemcsi.testbed.kubernetes;

import org.jspecify.annotations.NullMarked;
