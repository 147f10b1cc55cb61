/**
 * The objects of a resource as YAML, without a cluster: {@link
 * io.pmemcsi.operator.tools.render.Rendering}.
 */
@NullMarked
package io.pmemcsi.operator.tools.render;

import org.jspecify.annotations.NullMarked;
