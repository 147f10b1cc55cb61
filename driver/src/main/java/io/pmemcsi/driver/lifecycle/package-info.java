/**
 * The life of a volume: made, staged, published, grown and deleted, each step recorded in the
 * ledger so that it can be repeated after a crash at any point.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.lifecycle.Volumes} (devices and ledger), then {@link
 * io.pmemcsi.driver.lifecycle.Staging} and {@link io.pmemcsi.driver.lifecycle.Publishing} (mounts).
 */
@NullMarked
package io.pmemcsi.driver.lifecycle;

import org.jspecify.annotations.NullMarked;
