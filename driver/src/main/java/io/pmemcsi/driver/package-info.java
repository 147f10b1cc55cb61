/**
 * The CSI driver for one node.
 *
 * <p>A call walks down once: {@code csi} checks the request, {@code lifecycle} decides with the
 * ledger of {@code volume}, {@code device} makes block devices, {@code mount} and {@code kata} put
 * filesystems on them, {@code command} runs the tools. Start reading at {@link
 * io.pmemcsi.driver.NodeDriver}, which puts the parts together.
 */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
