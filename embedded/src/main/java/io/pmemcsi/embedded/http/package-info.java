/**
 * HTTP around the API: addresses, discovery, bodies, watch streams and the faults on the way. Start
 * with {@link io.pmemcsi.embedded.http.Front}.
 */
@NullMarked
package io.pmemcsi.embedded.http;

import org.jspecify.annotations.NullMarked;
