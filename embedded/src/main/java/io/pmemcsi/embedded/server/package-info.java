/**
 * The rules of the Kubernetes API: what a request does to the objects and what is answered, without
 * any HTTP. Start with {@link io.pmemcsi.embedded.server.Api}.
 */
@NullMarked
package io.pmemcsi.embedded.server;

import org.jspecify.annotations.NullMarked;
