/**
 * What applying a resource would change on a cluster, without changing it: {@link
 * io.pmemcsi.operator.tools.diff.Preview} runs the apply engine against {@link
 * io.pmemcsi.operator.apply.DryRunCluster}, and the rest of this package turns its intents into
 * text.
 */
@NullMarked
package io.pmemcsi.operator.tools.diff;

import org.jspecify.annotations.NullMarked;
