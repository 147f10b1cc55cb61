/**
 * The scheduler extender: {@code filter} and {@code prioritize} as kube-scheduler calls them. Start
 * with {@link io.pmemcsi.controller.extender.SchedulerExtender}.
 */
@NullMarked
package io.pmemcsi.controller.extender;

import org.jspecify.annotations.NullMarked;
