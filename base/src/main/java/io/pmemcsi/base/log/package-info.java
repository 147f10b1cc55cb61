/**
 * Log output in the two documented forms, set up in code before the first line is written. Start
 * with {@link io.pmemcsi.base.log.Logging}.
 */
@NullMarked
package io.pmemcsi.base.log;

import org.jspecify.annotations.NullMarked;
