/**
 * Field ownership of server-side apply, read from {@code metadata.managedFields}: pure functions
 * over an object as it is on the server and as it is desired. {@link
 * io.pmemcsi.operator.apply.ssa.FieldManager} is the entrance.
 */
@NullMarked
package io.pmemcsi.operator.apply.ssa;

import org.jspecify.annotations.NullMarked;
