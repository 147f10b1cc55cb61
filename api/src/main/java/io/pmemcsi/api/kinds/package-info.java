/**
 * The list of the kinds, and the checks of resources of any kind. Above the packages of the kinds,
 * which do not know each other's checks. Start reading with {@link
 * io.pmemcsi.api.kinds.ResourceKind}.
 */
@NullMarked
package io.pmemcsi.api.kinds;

import org.jspecify.annotations.NullMarked;
