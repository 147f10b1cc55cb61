/**
 * Image files for Kata Containers: a filesystem behind a partition table and the header that makes
 * a guest kernel treat the memory-mapped file as a DAX device.
 *
 * <p>Start reading at {@link io.pmemcsi.driver.node.kata.ImageLayout} for the bytes and {@link
 * io.pmemcsi.driver.node.kata.ImageFiles} for the files.
 */
@NullMarked
package io.pmemcsi.driver.node.kata;

import org.jspecify.annotations.NullMarked;
