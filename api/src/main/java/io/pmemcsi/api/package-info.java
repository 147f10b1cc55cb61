/** The custom resources. */
@NullMarked
package io.pmemcsi.api;

import org.jspecify.annotations.NullMarked;
