/**
 * The CSI driver of a node, and the central controller that forwards calls to nodes.
 *
 * <p>A call passes through the layers once: {@code csi} validates the request and maps failures to
 * status codes; {@code volume} (values, {@code store}, {@code operations}) and {@code node} decide
 * with the ledger; {@code device} creates block devices, one package per device mode; {@code linux}
 * runs commands and calls the kernel. {@code state} keeps small files durable. {@code audit}
 * compares all of it, {@code health} observes devices and filesystems that fail. Start reading at
 * {@link io.pmemcsi.driver.NodeDriver}, which starts the parts, and at {@code CsiServices}, which
 * wires them. {@link io.pmemcsi.driver.CentralDriver} is the entrance to the central controller,
 * which is in {@code registry}.
 */
@NullMarked
package io.pmemcsi.driver;

import org.jspecify.annotations.NullMarked;
