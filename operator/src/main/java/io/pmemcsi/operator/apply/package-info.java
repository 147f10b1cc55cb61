/**
 * Brings a cluster to a list of wanted objects and keeps it there. Nothing here knows what the
 * objects are for, or which resource asked for them. Start reading with {@link
 * io.pmemcsi.operator.apply.Engine}.
 */
@NullMarked
package io.pmemcsi.operator.apply;

import org.jspecify.annotations.NullMarked;
