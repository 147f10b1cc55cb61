/**
 * One package per kind of resource, and {@link io.pmemcsi.operator.kinds.Kinds}, the registry over
 * which everything else iterates.
 */
@NullMarked
package io.pmemcsi.operator.kinds;

import org.jspecify.annotations.NullMarked;
