/**
 * The rules of the Kubernetes API: what a request does to the objects and what the response is,
 * without HTTP. Start with {@link io.pmemcsi.embedded.server.Api}.
 */
@NullMarked
package io.pmemcsi.embedded.server;

import org.jspecify.annotations.NullMarked;
