package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.EnumSet;
import java.util.Set;

/** Asks a cluster for the facts. */
public final class ClusterProbe {

  private final KubernetesClient client;

  public ClusterProbe(KubernetesClient client) {
    this.client = client;
  }

  public ClusterFacts facts(String namespace, String defaultImage) {
    var info = client.getKubernetesVersion();
    return new ClusterFacts(
        KubernetesVersion.of(info.getMajor(), info.getMinor()), namespace, defaultImage, apis());
  }

  private Set<ServedApi> apis() {
    var result = EnumSet.noneOf(ServedApi.class);
    if (serves("storage.k8s.io/v1", "CSIStorageCapacity")
        || serves("storage.k8s.io/v1beta1", "CSIStorageCapacity")) {
      result.add(ServedApi.STORAGE_CAPACITY);
    }
    if (serves("security.openshift.io/v1", "SecurityContextConstraints")) {
      result.add(ServedApi.OPENSHIFT_SECURITY);
    }
    return result;
  }

  private boolean serves(String groupVersion, String kind) {
    APIResourceList list = client.getApiResources(groupVersion);
    return list != null
        && list.getResources().stream().map(APIResource::getKind).anyMatch(kind::equals);
  }
}
