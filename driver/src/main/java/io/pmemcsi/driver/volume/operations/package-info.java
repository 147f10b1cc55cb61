/**
 * What the controller side of CSI does with volumes: create, delete, expand, find. Start reading at
 * {@link io.pmemcsi.driver.volume.operations.Volumes}.
 */
@NullMarked
package io.pmemcsi.driver.volume.operations;

import org.jspecify.annotations.NullMarked;
