/**
 * Kubernetes events about resources, each written once however often the operator tries again.
 * Start reading with {@link io.pmemcsi.operator.events.EventWriter}.
 */
@NullMarked
package io.pmemcsi.operator.events;

import org.jspecify.annotations.NullMarked;
