/**
 * What {@code -mode=force-convert-raw-namespaces} does on a node: make its raw memory usable and
 * tell Kubernetes. Start with {@link io.pmemcsi.app.convert.NodeConversion}.
 */
@NullMarked
package io.pmemcsi.app.convert;

import org.jspecify.annotations.NullMarked;
