/**
 * The custom resources as users write them: one package per kind, each with the resource, its spec
 * as a record, and the checks that a server without CEL cannot make. Both PMEM kinds have the
 * status of {@code pmem}; {@code kinds} lists all of them. The CRDs in deploy/crd and the reference
 * in docs/api.md are generated from these types. Here is what the kinds share; start reading with
 * {@link io.pmemcsi.api.pmem.PmemCSIDeployment}.
 */
@NullMarked
package io.pmemcsi.api;

import org.jspecify.annotations.NullMarked;
