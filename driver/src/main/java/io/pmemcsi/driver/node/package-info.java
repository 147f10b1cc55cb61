/**
 * The node side of CSI: stages and publishes volumes, formats each at most once, and measures them.
 * Start reading at {@link io.pmemcsi.driver.node.Staging} and {@link
 * io.pmemcsi.driver.node.Publishing}.
 */
@NullMarked
package io.pmemcsi.driver.node;

import org.jspecify.annotations.NullMarked;
