package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.VersionInfo;
import io.pmemcsi.base.error.FatalException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Asks a cluster for the facts. */
public final class ClusterProbe {

  private final KubernetesClient client;

  public ClusterProbe(KubernetesClient client) {
    this.client = client;
  }

  /**
   * What the server says now.
   *
   * @throws FatalException if it is no Kubernetes server by what it says
   */
  public ClusterFacts facts(String namespace, String defaultImage) {
    return new ClusterFacts(version(), namespace, defaultImage, apis());
  }

  private KubernetesVersion version() {
    // null where the answer is empty, and so are the fields that it lacks
    @Nullable VersionInfo info = client.getKubernetesVersion();
    String major = info == null ? "" : String.valueOf(info.getMajor());
    String minor = info == null ? "" : String.valueOf(info.getMinor());
    try {
      return KubernetesVersion.of(major, minor);
    } catch (IllegalArgumentException e) {
      throw new FatalException(
          ("the API server %s says that its version is major \"%s\" and minor \"%s\", which no"
                  + " Kubernetes has: check --kubeconfig or KUBECONFIG, and what answers there")
              .formatted(client.getMasterUrl(), major, minor),
          e);
    }
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
