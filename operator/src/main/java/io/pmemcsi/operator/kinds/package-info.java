/**
 * One package per kind of resource, and {@link io.pmemcsi.operator.kinds.Kinds}, the registry over
 * which the program, {@code render}, {@code diff}, the operator's RBAC and the search for conflicts
 * iterate.
 */
@NullMarked
package io.pmemcsi.operator.kinds;

import org.jspecify.annotations.NullMarked;
