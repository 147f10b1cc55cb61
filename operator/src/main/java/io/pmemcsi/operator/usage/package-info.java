/**
 * What uses a CSI driver: persistent volumes, attachments and pods. {@link
 * io.pmemcsi.operator.usage.ApiUsage} reads it from the API server, {@link
 * io.pmemcsi.operator.usage.DriverUsage} holds the pure rules.
 */
@NullMarked
package io.pmemcsi.operator.usage;

import org.jspecify.annotations.NullMarked;
