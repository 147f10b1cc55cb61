/**
 * Stand-ins for the sidecars of CSI drivers, for tests on a machine that cannot reach the real
 * images: they run in the driver's own pods, under its service account, with the flags that the
 * operator gives to the real ones, and speak the same protocols to kubelet, driver and API server.
 * Start reading at {@link io.pmemcsi.standin.StandIns}.
 */
@NullMarked
package io.pmemcsi.standin;

import org.jspecify.annotations.NullMarked;
