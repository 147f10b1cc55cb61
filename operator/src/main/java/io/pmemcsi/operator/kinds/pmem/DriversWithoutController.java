package io.pmemcsi.operator.kinds.pmem;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.base.names.DriverName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Drivers whose resource has no TLS material: the operator reschedules their stuck claims. */
public final class DriversWithoutController {

  private DriversWithoutController() {}

  /** The labels of the nodes of each such driver. */
  public static Map<DriverName, Map<String, String>> list(KubernetesClient client) {
    var drivers = new HashMap<DriverName, Map<String, String>>();
    for (PmemCSIDeployment resource : resources(client)) {
      String name = resource.getMetadata().getName();
      if (resource.isMarkedForDeletion() || !DriverName.isAllowed(name)) {
        continue;
      }
      try {
        PmemSettings settings = PmemSettings.of(resource);
        if (!settings.hasController()) {
          drivers.put(settings.driver(), settings.nodeSelector());
        }
      } catch (IllegalArgumentException e) {
        // an invalid resource; its status reports that
      }
    }
    return drivers;
  }

  /** None if the CRD is not installed. */
  private static List<PmemCSIDeployment> resources(KubernetesClient client) {
    try {
      return client.resources(PmemCSIDeployment.class).list().getItems();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HTTP_NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }
}
