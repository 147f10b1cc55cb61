package io.pmemcsi.api.pmem;

import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** One PMEM-CSI driver in the cluster; its name is the name of the CSI driver. */
@Group(PmemCSIDeployment.GROUP)
@Version(PmemCSIDeployment.VERSION)
@Kind(PmemCSIDeployment.KIND)
@Singular("pmemcsideployment")
@Plural("pmemcsideployments")
@ShortNames("pcd")
@ValidationRule(
    value = PmemCSIDeploymentChecks.NAME_LENGTH_CEL,
    message = PmemCSIDeploymentChecks.NAME_LENGTH)
@ValidationRule(
    value = PmemCSIDeploymentChecks.NAME_START_CEL,
    message = PmemCSIDeploymentChecks.NAME_START)
public final class PmemCSIDeployment
    extends CustomResource<PmemCSIDeploymentSpec, PmemCSIDeploymentStatus> {

  public static final String GROUP = "pmem-csi.intel.com";
  public static final String VERSION = "v1beta1";
  public static final String KIND = "PmemCSIDeployment";

  /** Set to {@code true}, it removes a driver although volumes of it exist. */
  public static final String FORCE_DELETION_ANNOTATION = GROUP + "/force-deletion";

  @Override
  protected PmemCSIDeploymentSpec initSpec() {
    return PmemCSIDeploymentSpec.EMPTY;
  }

  @Override
  protected PmemCSIDeploymentStatus initStatus() {
    return PmemCSIDeploymentStatus.NEW;
  }

  /** Takes {@code spec: null} for a spec in which nothing is set. */
  @Override
  public void setSpec(@Nullable PmemCSIDeploymentSpec spec) {
    super.setSpec(spec == null ? PmemCSIDeploymentSpec.EMPTY : spec);
  }

  /** Takes {@code status: null} for that of a new resource. */
  @Override
  public void setStatus(@Nullable PmemCSIDeploymentStatus status) {
    super.setStatus(status == null ? PmemCSIDeploymentStatus.NEW : status);
  }
}
