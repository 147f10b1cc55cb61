/**
 * A Kubernetes API inside this process, for the demonstration, for quick tests and for exploring
 * faults. Data walks one way: HTTP ({@code http}) asks the API rules ({@code server}), which decide
 * with pure functions ({@code apply}, {@code patch}, {@code schema}) and change the objects in one
 * transaction ({@code store}). Start with {@link io.pmemcsi.embedded.EmbeddedKubernetes}.
 */
@NullMarked
package io.pmemcsi.embedded;

import org.jspecify.annotations.NullMarked;
