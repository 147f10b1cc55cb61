/**
 * The mutating admission webhook that sends pods with PMEM volumes to the scheduler extender. Start
 * with {@link io.pmemcsi.controller.webhook.PodWebhook}.
 */
@NullMarked
package io.pmemcsi.controller.webhook;

import org.jspecify.annotations.NullMarked;
