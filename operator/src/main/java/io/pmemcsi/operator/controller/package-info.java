/**
 * The one skeleton for every kind: observe, decide, act, report. {@link
 * io.pmemcsi.operator.controller.DriverReconciler} goes this way, {@link
 * io.pmemcsi.operator.controller.DriverKind} is what a kind plugs in. This package knows no kind.
 */
@NullMarked
package io.pmemcsi.operator.controller;

import org.jspecify.annotations.NullMarked;
