/**
 * All objects, their history and the transactions that change them. It knows JSON and revisions,
 * but no Kubernetes rules. Start with {@link io.pmemcsi.embedded.store.Store}.
 */
@NullMarked
package io.pmemcsi.embedded.store;

import org.jspecify.annotations.NullMarked;
