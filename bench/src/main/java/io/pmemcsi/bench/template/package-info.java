/**
 * What the operator needs for many drivers from templates: {@link
 * io.pmemcsi.bench.template.ThousandDrivers}.
 */
@NullMarked
package io.pmemcsi.bench.template;

import org.jspecify.annotations.NullMarked;
