/**
 * The files with resources and other documents that users name on the command line. Start with
 * {@link io.pmemcsi.app.render.ResourceFile}.
 */
@NullMarked
package io.pmemcsi.app.render;

import org.jspecify.annotations.NullMarked;
