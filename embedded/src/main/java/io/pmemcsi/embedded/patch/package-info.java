/**
 * The three older ways of changing an object: JSON patch, JSON merge patch and strategic merge
 * patch, as pure functions. Start with {@link io.pmemcsi.embedded.patch.StrategicMergePatch}, the
 * only one that knows types.
 */
@NullMarked
package io.pmemcsi.embedded.patch;

import org.jspecify.annotations.NullMarked;
