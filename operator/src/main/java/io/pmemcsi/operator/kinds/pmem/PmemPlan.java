package io.pmemcsi.operator.kinds.pmem;

import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.controller.Plan;
import io.pmemcsi.operator.pmemdriver.PmemCertificates;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import java.time.Duration;
import java.util.Optional;

/**
 * What was decided about a PmemCSIDeployment.
 *
 * @param driver empty for a resource that is invalid
 * @param requeueAfter when certificates have to be renewed or checked again
 */
record PmemPlan(
    Action action,
    Optional<PmemModel> driver,
    PmemCertificates.Prepared certificates,
    Optional<Duration> requeueAfter)
    implements Plan<PmemCSIDeployment> {

  /** Of a resource for which nothing but the problem is known. */
  static PmemPlan invalid(Action.Block block) {
    return new PmemPlan(
        block, Optional.empty(), PmemCertificates.Prepared.NOTHING, Optional.empty());
  }
}
