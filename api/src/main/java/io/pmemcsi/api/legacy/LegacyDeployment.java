package io.pmemcsi.api.legacy;

import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import org.jspecify.annotations.Nullable;

/**
 * One PMEM-CSI driver with a central controller, in the first version of the API. Its kind is
 * called {@code Deployment}; the class is not, because that name belongs to {@code apps/v1}.
 */
@Group(LegacyDeployment.GROUP)
@Version(LegacyDeployment.VERSION)
@Kind(LegacyDeployment.KIND)
@Singular("deployment")
@Plural("deployments")
@ValidationRule(
    value = LegacyDeploymentChecks.NAME_START_CEL,
    message = LegacyDeploymentChecks.NAME_START)
public final class LegacyDeployment
    extends CustomResource<LegacyDeploymentSpec, PmemCSIDeploymentStatus> {

  public static final String GROUP = "pmem-csi.intel.com";
  public static final String VERSION = "v1alpha1";
  public static final String KIND = "Deployment";

  @Override
  protected LegacyDeploymentSpec initSpec() {
    return LegacyDeploymentSpec.EMPTY;
  }

  @Override
  protected PmemCSIDeploymentStatus initStatus() {
    return PmemCSIDeploymentStatus.NEW;
  }

  /** Takes {@code spec: null} for a spec in which nothing is set. */
  @Override
  public void setSpec(@Nullable LegacyDeploymentSpec spec) {
    super.setSpec(spec == null ? LegacyDeploymentSpec.EMPTY : spec);
  }

  /** Takes {@code status: null} for that of a new resource. */
  @Override
  public void setStatus(@Nullable PmemCSIDeploymentStatus status) {
    super.setStatus(status == null ? PmemCSIDeploymentStatus.NEW : status);
  }
}
