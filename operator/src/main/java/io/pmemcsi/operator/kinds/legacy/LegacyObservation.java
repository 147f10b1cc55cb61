package io.pmemcsi.operator.kinds.legacy;

import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import io.pmemcsi.operator.usage.DriverUsage;
import java.util.List;

/**
 * What the decision about a Deployment v1alpha1 depends on.
 *
 * @param formerDrivers what uses drivers that the resource no longer names
 * @param lost volumes on nodes that do not exist any more
 */
record LegacyObservation(
    DriverObservation driver, List<DriverUsage> formerDrivers, LostVolumes lost) {

  LegacyObservation {
    formerDrivers = List.copyOf(formerDrivers);
  }
}
