package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.VersionInfo;
import io.pmemcsi.base.error.FatalException;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the facts from a cluster. */
public final class ClusterProbe {

  private final KubernetesClient client;

  public ClusterProbe(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Reads the facts now.
   *
   * @throws FatalException if the server does not report a Kubernetes version
   */
  public ClusterFacts facts(String namespace, String defaultImage) {
    return facts(namespace, Optional.of(defaultImage));
  }

  /**
   * The same without a default image.
   *
   * @throws FatalException if the server does not report a Kubernetes version
   */
  public ClusterFacts facts(String namespace, Optional<String> defaultImage) {
    return new ClusterFacts(version(), namespace, defaultImage, apis());
  }

  private KubernetesVersion version() {
    // null where the response is empty; so are missing fields
    @Nullable VersionInfo info = client.getKubernetesVersion();
    String major = info == null ? "" : String.valueOf(info.getMajor());
    String minor = info == null ? "" : String.valueOf(info.getMinor());
    try {
      return KubernetesVersion.of(major, minor);
    } catch (IllegalArgumentException e) {
      throw new FatalException(
          ("the API server %s reports version major \"%s\" and minor \"%s\", which is no Kubernetes"
                  + " version: check --kubeconfig or KUBECONFIG, and which server that is")
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
    if (serves("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent")
        && serves("snapshot.storage.k8s.io/v1", "VolumeSnapshotClass")) {
      result.add(ServedApi.SNAPSHOTS);
    }
    if (serves(ValidatingAdmissionPolicy.class)) {
      result.add(ServedApi.ADMISSION_POLICIES);
    }
    return result;
  }

  /** Whether the server has this kind now: that of a CRD comes and goes with it. */
  public boolean serves(Class<? extends HasMetadata> type) {
    return serves(HasMetadata.getApiVersion(type), HasMetadata.getKind(type));
  }

  private boolean serves(String groupVersion, String kind) {
    APIResourceList list = client.getApiResources(groupVersion);
    return list != null
        && list.getResources().stream().map(APIResource::getKind).anyMatch(kind::equals);
  }
}
