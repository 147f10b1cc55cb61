/**
 * What the server knows about the shape of objects: the built-in kinds from a table of facts
 * ({@link io.pmemcsi.embedded.schema.TypeTable}) and custom ones from the schema in their
 * definition ({@link io.pmemcsi.embedded.schema.CustomSchema}). Start with {@link
 * io.pmemcsi.embedded.schema.Type}.
 */
@NullMarked
package io.pmemcsi.embedded.schema;

import org.jspecify.annotations.NullMarked;
