/**
 * Persistent memory as the kernel sees it: regions, and the namespaces in them, read and changed
 * with ndctl. Start reading at {@link io.pmemcsi.driver.device.ndctl.Ndctl}; the arithmetic is in
 * {@link io.pmemcsi.driver.device.ndctl.NamespaceMode}.
 */
@NullMarked
package io.pmemcsi.driver.device.ndctl;

import org.jspecify.annotations.NullMarked;
