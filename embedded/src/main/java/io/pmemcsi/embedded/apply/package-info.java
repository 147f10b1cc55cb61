/**
 * Field ownership and server-side apply as pure functions on JSON trees: which fields a manager
 * owns, what an apply merges, removes and refuses. The rules are those of the library the real
 * server uses (structured-merge-diff). Start with {@link io.pmemcsi.embedded.apply.Ownership}.
 */
@NullMarked
package io.pmemcsi.embedded.apply;

import org.jspecify.annotations.NullMarked;
