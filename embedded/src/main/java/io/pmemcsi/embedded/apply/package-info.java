/**
 * Field ownership and server-side apply as pure functions on JSON trees: which fields a manager
 * owns, and what an apply merges, removes and refuses. The rules are those of
 * structured-merge-diff, the library of the real server. Start with {@link
 * io.pmemcsi.embedded.apply.Ownership}.
 */
@NullMarked
package io.pmemcsi.embedded.apply;

import org.jspecify.annotations.NullMarked;
