/**
 * What the operator needs for many drivers from templates: {@link
 * io.pmemcsi.bench.generic.ThousandDrivers}.
 */
@NullMarked
package io.pmemcsi.bench.generic;

import org.jspecify.annotations.NullMarked;
