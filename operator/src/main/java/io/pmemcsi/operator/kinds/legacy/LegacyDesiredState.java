package io.pmemcsi.operator.kinds.legacy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.pmemdriver.CentralProvisioning;
import io.pmemcsi.operator.pmemdriver.NodePods;
import io.pmemcsi.operator.pmemdriver.NodePods.Provisioning;
import io.pmemcsi.operator.pmemdriver.NodeRbac;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import io.pmemcsi.operator.pmemdriver.PodPolicies;
import java.util.ArrayList;
import java.util.List;

/** Every object of a driver with a central controller. */
final class LegacyDesiredState {

  private LegacyDesiredState() {}

  /**
   * Computes the objects, in the order in which to write them. Earlier releases created objects of
   * the same names only.
   *
   * @param secrets with the certificates of controller and nodes
   */
  static DesiredState of(PmemModel driver, List<HasMetadata> secrets) {
    var desired = new ArrayList<HasMetadata>();
    desired.add(driver.csiDriver());
    desired.addAll(new NodeRbac(driver, Provisioning.CENTRAL).objects());
    desired.addAll(new PodPolicies(driver).central());
    desired.addAll(secrets);
    desired.addAll(new CentralProvisioning(driver).objects());
    desired.add(new NodePods(driver, Provisioning.CENTRAL).daemonSet());
    return new DesiredState(desired, List.of());
  }
}
