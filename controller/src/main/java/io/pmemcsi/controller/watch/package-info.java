/** List and watch of API objects without keeping them: {@link LeanWatch}. */
@NullMarked
package io.pmemcsi.controller.watch;

import org.jspecify.annotations.NullMarked;
