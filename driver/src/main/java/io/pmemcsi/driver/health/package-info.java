/**
 * The health of volumes: {@link io.pmemcsi.driver.health.HealthProbe} observes what the kernel
 * shows of a device and its mounts, {@link io.pmemcsi.driver.health.Observation} decides what of it
 * is a problem.
 */
@NullMarked
package io.pmemcsi.driver.health;

import org.jspecify.annotations.NullMarked;
