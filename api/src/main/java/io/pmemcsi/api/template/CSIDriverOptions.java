package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What Kubernetes has to know about a driver: the fields of the {@code CSIDriver} object. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CSIDriverOptions(
    @JsonPropertyDescription(
            "Whether volumes have to be attached to a node before they are mounted. Default: true"
                + " where the attacher runs, else false.")
        @Nullable Boolean attachRequired,
    @JsonPropertyDescription(
            "Whether the driver receives the pod for which a volume is mounted. Default: false.")
        @Nullable Boolean podInfoOnMount,
    @SchemaFrom(type = FSGroupPolicy.class)
        @JsonPropertyDescription(
            "When the kubelet hands a volume's files to the pod's fsGroup. Default:"
                + " ReadWriteOnceWithFSType.")
        @Nullable String fsGroupPolicy,
    @Size(max = 2)
        @JsonPropertyDescription("Kinds of volumes that the driver offers. Default: Persistent.")
        @Nullable List<String> volumeLifecycleModes,
    @Size(max = 16)
        @JsonPropertyDescription(
            "Service account tokens of the pod that the driver needs. Default: none.")
        @Nullable List<TokenRequest> tokenRequests,
    @JsonPropertyDescription(
            "Whether the kubelet calls NodePublishVolume again and again. Default: false.")
        @Nullable Boolean requiresRepublish,
    @JsonPropertyDescription(
            "Whether the scheduler considers published capacities; also makes the provisioner"
                + " publish them. Default: false.")
        @Nullable Boolean storageCapacity,
    @JsonPropertyDescription(
            "Whether the driver can mount with an SELinux context. Default: false.")
        @Nullable Boolean seLinuxMount,
    @Min(10)
        @Max(2147483647)
        @JsonPropertyDescription(
            "How often, in seconds, the number of volumes that a node can hold is queried again."
                + " Default: never.")
        @Nullable Long nodeAllocatableUpdatePeriodSeconds,
    @JsonPropertyDescription(
            "Whether the tokens of tokenRequests reach the driver as secrets, which are not logged,"
                + " instead of in the volume context; from Kubernetes 1.35 on. Default: false.")
        @Nullable Boolean serviceAccountTokenInSecrets,
    @JsonPropertyDescription(
            "Whether pods with volumes of the driver are scheduled only onto nodes on which the"
                + " driver is registered; from Kubernetes 1.37 on. A cluster autoscaler must be"
                + " aware of CSI nodes. Default: false.")
        @Nullable Boolean preventPodSchedulingIfMissing) {

  /** Nothing set. */
  public static final CSIDriverOptions DEFAULT =
      new CSIDriverOptions(null, null, null, null, null, null, null, null, null, null, null);

  public CSIDriverOptions {
    volumeLifecycleModes = volumeLifecycleModes == null ? null : List.copyOf(volumeLifecycleModes);
    tokenRequests = tokenRequests == null ? null : List.copyOf(tokenRequests);
  }
}
