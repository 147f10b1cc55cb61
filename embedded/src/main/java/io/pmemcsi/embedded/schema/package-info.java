/**
 * What the server knows about the shape of objects: the table of built-in types and the schemas of
 * custom ones, how they are decoded and how their lists are merged. Start with {@link
 * io.pmemcsi.embedded.schema.Type}; {@code kubernetes-1.20.types} is the table.
 */
@NullMarked
package io.pmemcsi.embedded.schema;

import org.jspecify.annotations.NullMarked;
