/**
 * What uses a CSI driver: persistent volumes, attachments, pods and snapshots. {@link
 * io.pmemcsi.operator.usage.ApiUsage} reads it from the API server, {@link
 * io.pmemcsi.operator.usage.DriverUsage} holds the pure rules.
 */
@NullMarked
package io.pmemcsi.operator.usage;

import org.jspecify.annotations.NullMarked;
