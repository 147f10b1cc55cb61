/** An in-process Kubernetes API. */
@NullMarked
package io.pmemcsi.embedded;

import org.jspecify.annotations.NullMarked;
