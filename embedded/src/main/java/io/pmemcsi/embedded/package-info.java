/**
 * An in-process Kubernetes API server for the demo, for unit tests and for fault exploration. A
 * request passes from {@code http} to {@code server}, which computes the result with pure functions
 * ({@code apply}, {@code schema}) and commits it to the {@code store} in one transaction. Start
 * with {@link io.pmemcsi.embedded.EmbeddedKubernetes}.
 */
@NullMarked
package io.pmemcsi.embedded;

import org.jspecify.annotations.NullMarked;
