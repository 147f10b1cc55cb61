/**
 * Runs what the documentation tells its readers to run. {@link io.pmemcsi.guide.Guide} has the
 * pages, what stands for their placeholders, and what is not run here, with the reason.
 */
@NullMarked
package io.pmemcsi.guide;

import org.jspecify.annotations.NullMarked;
