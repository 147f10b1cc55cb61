/**
 * A small plain HTTP server for metrics and health. Start with {@link
 * io.pmemcsi.base.http.HttpEndpoint}.
 */
@NullMarked
package io.pmemcsi.base.http;

import org.jspecify.annotations.NullMarked;
