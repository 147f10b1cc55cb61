/**
 * Sends the same requests to the embedded API and to a real API server and compares the answers, so
 * that the embedded one cannot drift into fantasy. The requests are in {@code scenarios.yaml} and
 * {@link io.pmemcsi.embedded.differential.Generator}; start with {@link
 * io.pmemcsi.embedded.differential.DifferentialIT}.
 */
@NullMarked
package io.pmemcsi.embedded.differential;

import org.jspecify.annotations.NullMarked;
