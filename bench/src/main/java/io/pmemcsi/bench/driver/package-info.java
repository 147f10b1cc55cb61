/**
 * What the node driver costs: its calls beside the same commands typed by hand, its process, its
 * answers from memory. Start reading at {@link io.pmemcsi.bench.driver.LvmByHand}.
 */
@NullMarked
package io.pmemcsi.bench.driver;

import org.jspecify.annotations.NullMarked;
