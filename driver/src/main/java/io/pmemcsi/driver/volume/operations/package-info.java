/**
 * What the controller side of CSI does with volumes, one class per operation: {@link
 * io.pmemcsi.driver.volume.operations.VolumeCreator}, {@link
 * io.pmemcsi.driver.volume.operations.VolumeDeleter}, {@link
 * io.pmemcsi.driver.volume.operations.VolumeExpander}, {@link
 * io.pmemcsi.driver.volume.operations.SnapshotCreator}, {@link
 * io.pmemcsi.driver.volume.operations.VolumeCloner}. {@link
 * io.pmemcsi.driver.volume.operations.Volumes} resolves volume IDs and locks volumes for all of
 * them and for the node side. Start reading there.
 */
@NullMarked
package io.pmemcsi.driver.volume.operations;

import org.jspecify.annotations.NullMarked;
