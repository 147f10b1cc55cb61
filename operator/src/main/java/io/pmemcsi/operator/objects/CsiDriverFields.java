package io.pmemcsi.operator.objects;

import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverSpec;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.List;

/**
 * The fields of a CSIDriver that a server knows. A server drops a field whose feature gate is off,
 * so each one counts from the version on in which its gate is on by default: applying it to an
 * earlier server would be a write per reconciliation.
 */
public final class CsiDriverFields {

  private CsiDriverFields() {}

  /** The object without the fields that the server would drop. */
  public static CSIDriver knownTo(ClusterFacts facts, CSIDriver object) {
    KubernetesVersion version = facts.version();
    CSIDriverSpec spec = object.getSpec();
    if (!facts.serves(ServedApi.STORAGE_CAPACITY)) {
      spec.setStorageCapacity(null);
    }
    if (!version.atLeast(1, 21)) {
      spec.setRequiresRepublish(null);
      spec.setTokenRequests(List.of());
    }
    // the field exists since 1.25, behind a gate that was off
    if (!version.atLeast(1, 27)) {
      spec.setSeLinuxMount(null);
    }
    if (!version.atLeast(1, 34)) {
      spec.setNodeAllocatableUpdatePeriodSeconds(null);
    }
    if (!version.atLeast(1, 35)) {
      spec.setServiceAccountTokenInSecrets(null);
    }
    // the field exists since 1.36, behind a gate that was off
    if (!version.atLeast(1, 37)) {
      spec.setPreventPodSchedulingIfMissing(null);
    }
    return object;
  }
}
