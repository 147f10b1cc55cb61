/**
 * Takes {@code selected-node} off claims that wait for a node without the driver, so that the
 * scheduler picks another one. Start with {@link io.pmemcsi.controller.rescheduler.Rescheduler}.
 */
@NullMarked
package io.pmemcsi.controller.rescheduler;

import org.jspecify.annotations.NullMarked;
