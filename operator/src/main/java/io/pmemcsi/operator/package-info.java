/**
 * The operator: it turns resources into running CSI drivers and keeps them so. A resource walks one
 * way: it is read and checked, turned into a list of wanted objects by pure code ({@code pmem},
 * {@code generic}), brought to the cluster by the {@code engine}, and answered with a status.
 * {@link io.pmemcsi.operator.Rendering} is the short walk without a cluster.
 */
@NullMarked
package io.pmemcsi.operator;

import org.jspecify.annotations.NullMarked;
