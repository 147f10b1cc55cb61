package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.objects.NetworkPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which ports of the driver's pods can be reached. Policies add up: a user can allow more ports
 * with another one.
 */
public record PodPolicies(PmemModel driver) {

  /**
   * Of a driver with provisioning on every node.
   *
   * @param certificates those of the controller; without any there is no controller
   */
  public List<HasMetadata> onEachNode(Optional<ControllerCertificates> certificates) {
    if (!driver.settings().networkPolicies()) {
      return List.of();
    }
    var names = driver.names();
    var policies = new ArrayList<HasMetadata>();
    policies.add(
        policy(
            Component.NODE,
            names.nodeDaemonSet(),
            List.of(PmemModel.METRICS_PORT, PmemModel.PROVISIONER_METRICS_PORT)));
    policies.add(policy(Component.NODE_SETUP, names.nodeSetup(), List.of()));
    certificates.ifPresent(
        found -> policies.add(policy(Component.CONTROLLER, names.controller(), controller(found))));
    return policies;
  }

  private static List<Integer> controller(ControllerCertificates certificates) {
    return certificates.issuedByOpenShift()
        ? List.of(
            ControllerServices.HTTPS_PORT, ControllerServices.HTTP_PORT, PmemModel.METRICS_PORT)
        : List.of(ControllerServices.HTTPS_PORT, PmemModel.METRICS_PORT);
  }

  /** Of a driver with a central controller. */
  public List<HasMetadata> central() {
    return driver.settings().networkPolicies()
        ? List.of(
            policy(
                Component.NODE,
                driver.names().nodeDaemonSet(),
                List.of(CentralProvisioning.NODE_PORT, PmemModel.METRICS_PORT)),
            policy(
                Component.CONTROLLER,
                driver.names().controller(),
                List.of(
                    CentralProvisioning.REGISTRY_PORT,
                    PmemModel.METRICS_PORT,
                    PmemModel.PROVISIONER_METRICS_PORT)))
        : List.of();
  }

  private HasMetadata policy(Component component, String name, List<Integer> ports) {
    return NetworkPolicies.ingress(
        driver.namespaced(name, driver.labels().of(component)),
        driver.labels().selector(component),
        ports);
  }
}
