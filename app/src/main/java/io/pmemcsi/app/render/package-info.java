/**
 * What a resource would become: files in, objects out, with no cluster. Start with {@link
 * io.pmemcsi.app.render.ResourceFile}.
 */
@NullMarked
package io.pmemcsi.app.render;

import org.jspecify.annotations.NullMarked;
