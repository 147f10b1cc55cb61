/**
 * HTTP around the API: addresses, discovery, bodies, watch streams and injected faults. Start with
 * {@link io.pmemcsi.embedded.http.ApiHandler}.
 */
@NullMarked
package io.pmemcsi.embedded.http;

import org.jspecify.annotations.NullMarked;
