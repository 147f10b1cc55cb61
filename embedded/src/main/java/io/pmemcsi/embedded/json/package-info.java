/**
 * What every other room needs to read and compare JSON trees; nothing here knows Kubernetes. Start
 * with {@link io.pmemcsi.embedded.json.Json}.
 */
@NullMarked
package io.pmemcsi.embedded.json;

import org.jspecify.annotations.NullMarked;
