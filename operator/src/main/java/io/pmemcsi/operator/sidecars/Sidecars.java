package io.pmemcsi.operator.sidecars;

import static io.pmemcsi.operator.sidecars.Sidecar.ATTACHER;
import static io.pmemcsi.operator.sidecars.Sidecar.LIVENESS_PROBE;
import static io.pmemcsi.operator.sidecars.Sidecar.PROVISIONER;
import static io.pmemcsi.operator.sidecars.Sidecar.REGISTRAR;
import static io.pmemcsi.operator.sidecars.Sidecar.RESIZER;
import static io.pmemcsi.operator.sidecars.Sidecar.SNAPSHOTTER;

import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.List;
import java.util.Map;

/**
 * Images of the sidecars by version of the Kubernetes server.
 *
 * <p>Each row holds from its version up to the next row. What the releases say about servers stands
 * in their CHANGELOG folders and in the table "Compatibility" of their READMEs:
 * github.com/kubernetes-csi/external-provisioner and its siblings. The borders: csi-provisioner 2.1
 * speaks the alpha of CSIStorageCapacity (1.19, 1.20), 2.2 the v1beta1 (1.21), 3.2 also the v1
 * (1.24; v1beta1 is gone in 1.27), but 3.2.0 looks for it in namespace default, where it has no
 * rights; 6.0 wants VolumeAttributesClass v1 (1.34) for volumes with such a class. All of them are
 * served by registry.k8s.io; the former k8s.gcr.io is frozen since April 2023.
 */
public final class Sidecars {

  private static final String REGISTRY = "registry.k8s.io/sig-storage/";

  private record Row(KubernetesVersion from, Map<Sidecar, String> tags) {}

  private static final List<Row> TABLE =
      List.of(
          row("1.20", "v2.1.1", "v3.1.0", "v2.1.0", "v2.2.0", "v1.1.0", "v4.0.0"),
          row("1.21", "v2.2.2", "v3.2.1", "v2.2.0", "v2.3.0", "v1.2.0", "v4.1.1"),
          row("1.22", "v3.2.1", "v3.5.1", "v2.5.1", "v2.7.0", "v1.5.0", "v6.0.1"),
          row("1.25", "v3.4.1", "v4.2.0", "v2.7.0", "v2.9.0", "v1.7.0", "v6.2.1"),
          row("1.27", "v5.3.0", "v4.9.0", "v2.14.0", "v2.16.0", "v1.14.0", "v8.3.0"),
          row("1.34", "v6.3.0", "v4.12.0", "v2.17.0", "v2.19.0", "v2.2.1", "v8.6.0"));

  private Sidecars() {}

  /** The image of a sidecar for a server; one older than the table gets the first row. */
  public static String image(Sidecar sidecar, KubernetesVersion server) {
    Row fitting = TABLE.getFirst();
    for (Row row : TABLE) {
      if (row.from().compareTo(server) <= 0) {
        fitting = row;
      }
    }
    String tag = fitting.tags().get(sidecar);
    if (tag == null) {
      throw new IllegalStateException("no tag for " + sidecar + " from " + fitting.from());
    }
    return REGISTRY + sidecar.repository() + ":" + tag;
  }

  private static Row row(
      String from,
      String provisioner,
      String attacher,
      String registrar,
      String livenessProbe,
      String resizer,
      String snapshotter) {
    return new Row(
        KubernetesVersion.parse(from),
        Map.of(
            PROVISIONER, provisioner,
            ATTACHER, attacher,
            REGISTRAR, registrar,
            LIVENESS_PROBE, livenessProbe,
            RESIZER, resizer,
            SNAPSHOTTER, snapshotter));
  }
}
