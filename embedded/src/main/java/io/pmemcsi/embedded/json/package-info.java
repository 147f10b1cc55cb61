/**
 * Helpers to read and compare JSON trees. They know nothing of Kubernetes. Start with {@link
 * io.pmemcsi.embedded.json.Json}.
 */
@NullMarked
package io.pmemcsi.embedded.json;

import org.jspecify.annotations.NullMarked;
