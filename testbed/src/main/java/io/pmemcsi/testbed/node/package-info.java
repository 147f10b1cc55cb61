/**
 * A real Kubernetes node for tests: containerd, runc and kubelet in namespaces of their own, with a
 * control plane that can reach its pods. Start reading at {@link
 * io.pmemcsi.testbed.node.WithRealNode}; {@link io.pmemcsi.testbed.node.RealNode} is what a test
 * gets.
 */
@NullMarked
package io.pmemcsi.testbed.node;

import org.jspecify.annotations.NullMarked;
