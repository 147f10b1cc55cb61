/**
 * Tests of what belongs to the PMEM guest and needs none; those in a real one are in
 * integration-tests.
 */
@NullMarked
package io.pmemcsi.testbed.guest;

import org.jspecify.annotations.NullMarked;
