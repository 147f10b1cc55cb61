/**
 * The CSI driver for one node.
 *
 * <p>A call passes through the layers once: {@code csi} validates the request and maps failures to
 * status codes; {@code volume} (values, {@code store}, {@code operations}) and {@code node} decide
 * with the ledger; {@code device} creates block devices, one package per device mode; {@code linux}
 * runs commands and calls the kernel. {@code audit} compares all of it. Start reading at {@link
 * io.pmemcsi.driver.NodeDriver}, which starts the parts, and at {@code CsiServices}, which wires
 * them.
 */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
