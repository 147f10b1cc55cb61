package io.pmemcsi.api.template;

import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** One CSI driver, deployed into the namespace of this resource from the user's pod templates. */
@Group(CSIDriverDeployment.GROUP)
@Version(CSIDriverDeployment.VERSION)
@Kind(CSIDriverDeployment.KIND)
@Singular("csidriverdeployment")
@Plural("csidriverdeployments")
@ValidationRule(
    value = CSIDriverDeploymentChecks.NAME_LENGTH_CEL,
    message = CSIDriverDeploymentChecks.NAME_LENGTH)
public final class CSIDriverDeployment
    extends CustomResource<CSIDriverDeploymentSpec, CSIDriverDeploymentStatus>
    implements Namespaced {

  public static final String GROUP = "csidriver.storage.openshift.io";
  public static final String VERSION = "v1alpha1";
  public static final String KIND = "CSIDriverDeployment";

  /** Set to {@code true}, it removes a driver although volumes of it exist. */
  public static final String FORCE_DELETION_ANNOTATION = GROUP + "/force-deletion";

  /** Keeps the resource until its cluster-scoped objects are deleted. */
  public static final String FINALIZER = GROUP;

  @Override
  protected CSIDriverDeploymentSpec initSpec() {
    return CSIDriverDeploymentSpec.EMPTY;
  }

  @Override
  protected CSIDriverDeploymentStatus initStatus() {
    return CSIDriverDeploymentStatus.NEW;
  }

  /** Takes {@code spec: null} for a spec in which nothing is set. */
  @Override
  public void setSpec(@Nullable CSIDriverDeploymentSpec spec) {
    super.setSpec(spec == null ? CSIDriverDeploymentSpec.EMPTY : spec);
  }

  /** Takes {@code status: null} for that of a new resource. */
  @Override
  public void setStatus(@Nullable CSIDriverDeploymentStatus status) {
    super.setStatus(status == null ? CSIDriverDeploymentStatus.NEW : status);
  }
}
