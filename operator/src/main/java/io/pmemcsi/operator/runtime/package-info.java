/**
 * The running operator: the program with its client, leader election, liveness, metrics endpoint
 * and configuration file. It iterates over {@link io.pmemcsi.operator.kinds.Kinds}; of a single
 * kind it knows only what is in the configuration file ({@code OperatorConfig}). Start reading with
 * {@link io.pmemcsi.operator.runtime.OperatorProgram}.
 */
@NullMarked
package io.pmemcsi.operator.runtime;

import org.jspecify.annotations.NullMarked;
