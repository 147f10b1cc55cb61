/**
 * The CRDs of deploy/crd as this program carries them, and the checks of their schemas in Java, for
 * resources that have not been through an API server. Start reading with {@link
 * io.pmemcsi.api.schema.CustomResourceDefinitions}.
 */
@NullMarked
package io.pmemcsi.api.schema;

import org.jspecify.annotations.NullMarked;
