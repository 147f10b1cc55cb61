package io.pmemcsi.operator.objects;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;
import static io.pmemcsi.operator.objects.Sidecar.ATTACHER;
import static io.pmemcsi.operator.objects.Sidecar.LIVENESS_PROBE;
import static io.pmemcsi.operator.objects.Sidecar.PROVISIONER;
import static io.pmemcsi.operator.objects.Sidecar.REGISTRAR;
import static io.pmemcsi.operator.objects.Sidecar.RESIZER;
import static io.pmemcsi.operator.objects.Sidecar.SNAPSHOTTER;

import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A release of a sidecar: one row of the table below.
 *
 * <p>A row holds from its version of the Kubernetes server up to the next row of that sidecar. The
 * releases list the servers they support in their CHANGELOG directories and in the table
 * "Compatibility" of their READMEs: github.com/kubernetes-csi/external-provisioner and its
 * siblings. The limits: csi-provisioner 2.1 speaks the alpha of CSIStorageCapacity (1.19, 1.20),
 * 2.2 the v1beta1 (1.21), 3.2 also the v1 (1.24; v1beta1 is not served from 1.27), but 3.2.0 looks
 * for it in namespace default, where it has no permissions; 5.0 always has topology and keeps a
 * finalizer on a volume until it is deleted; 6.0 needs VolumeAttributesClass v1 (1.34) for volumes
 * with such a class. All of them are served by registry.k8s.io; k8s.gcr.io is frozen since April
 * 2023. The rules are those of deploy/kubernetes/rbac.yaml of each release.
 *
 * @param from the first version of the server for which this release is chosen
 * @param flags that only this release needs
 * @param rules of the ClusterRole
 * @param laterRules of the ClusterRole, for APIs that came later; they go to the end of the role so
 *     that an upgrade of the server keeps the order of the others
 */
public record SidecarRelease(
    Sidecar sidecar,
    KubernetesVersion from,
    String tag,
    List<String> flags,
    List<PolicyRule> rules,
    List<PolicyRule> laterRules) {

  private static final String REGISTRY = "registry.k8s.io/sig-storage/";
  private static final String STORAGE = "storage.k8s.io";
  private static final String SNAPSHOTS = "snapshot.storage.k8s.io";

  private static final List<String> TOPOLOGY = List.of("--feature-gates=Topology=true");
  private static final List<PolicyRule> PROVISION = provision(READ + ",create,delete");
  private static final List<PolicyRule> PROVISION_5 = provision(READ + ",create,patch,delete");
  private static final List<PolicyRule> ATTACH =
      List.of(
          rule("", "persistentvolumes", READ + ",patch"),
          rule(STORAGE, "csinodes", READ),
          rule(STORAGE, "volumeattachments", READ + ",patch"),
          rule(STORAGE, "volumeattachments/status", "patch"));
  private static final List<PolicyRule> RESIZE =
      List.of(
          rule("", "persistentvolumes", READ + ",patch"),
          rule("", "persistentvolumeclaims,pods", READ),
          rule("", "persistentvolumeclaims/status", "patch"));
  private static final List<PolicyRule> SNAPSHOT =
      List.of(
          rule(SNAPSHOTS, "volumesnapshotclasses", READ),
          rule(SNAPSHOTS, "volumesnapshotcontents", READ + ",update,patch"),
          rule(SNAPSHOTS, "volumesnapshotcontents/status", "update,patch"));
  private static final List<PolicyRule> ATTRIBUTES =
      List.of(rule(STORAGE, "volumeattributesclasses", READ));

  private static final List<SidecarRelease> TABLE =
      List.of(
          release(PROVISIONER, "1.20", "v2.1.1", TOPOLOGY, PROVISION),
          release(PROVISIONER, "1.21", "v2.2.2", TOPOLOGY, PROVISION),
          release(PROVISIONER, "1.22", "v3.2.1", TOPOLOGY, PROVISION),
          release(PROVISIONER, "1.25", "v3.4.1", TOPOLOGY, PROVISION),
          release(PROVISIONER, "1.27", "v5.3.0", List.of(), PROVISION_5),
          release(PROVISIONER, "1.34", "v6.3.0", List.of(), PROVISION_5, ATTRIBUTES),
          release(ATTACHER, "1.20", "v3.1.0", List.of(), ATTACH),
          release(ATTACHER, "1.21", "v3.2.1", List.of(), ATTACH),
          release(ATTACHER, "1.22", "v3.5.1", List.of(), ATTACH),
          release(ATTACHER, "1.25", "v4.2.0", List.of(), ATTACH),
          release(ATTACHER, "1.27", "v4.9.0", List.of(), ATTACH),
          release(ATTACHER, "1.34", "v4.12.0", List.of(), ATTACH),
          release(REGISTRAR, "1.20", "v2.1.0", List.of(), List.of()),
          release(REGISTRAR, "1.21", "v2.2.0", List.of(), List.of()),
          release(REGISTRAR, "1.22", "v2.5.1", List.of(), List.of()),
          release(REGISTRAR, "1.25", "v2.7.0", List.of(), List.of()),
          release(REGISTRAR, "1.27", "v2.14.0", List.of(), List.of()),
          release(REGISTRAR, "1.34", "v2.17.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.20", "v2.2.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.21", "v2.3.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.22", "v2.7.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.25", "v2.9.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.27", "v2.16.0", List.of(), List.of()),
          release(LIVENESS_PROBE, "1.34", "v2.19.0", List.of(), List.of()),
          release(RESIZER, "1.20", "v1.1.0", List.of(), RESIZE),
          release(RESIZER, "1.21", "v1.2.0", List.of(), RESIZE),
          release(RESIZER, "1.22", "v1.5.0", List.of(), RESIZE),
          release(RESIZER, "1.25", "v1.7.0", List.of(), RESIZE),
          release(RESIZER, "1.27", "v1.14.0", List.of(), RESIZE),
          release(RESIZER, "1.34", "v2.2.1", List.of(), RESIZE, ATTRIBUTES),
          release(SNAPSHOTTER, "1.20", "v4.0.0", List.of(), SNAPSHOT),
          release(SNAPSHOTTER, "1.21", "v4.1.1", List.of(), SNAPSHOT),
          release(SNAPSHOTTER, "1.22", "v6.0.1", List.of(), SNAPSHOT),
          release(SNAPSHOTTER, "1.25", "v6.2.1", List.of(), SNAPSHOT),
          release(SNAPSHOTTER, "1.27", "v8.3.0", List.of(), SNAPSHOT),
          release(SNAPSHOTTER, "1.34", "v8.6.0", List.of(), SNAPSHOT));

  /** The release for a server; one older than the table gets the first release. */
  public static SidecarRelease of(Sidecar sidecar, KubernetesVersion server) {
    List<SidecarRelease> releases =
        TABLE.stream().filter(release -> release.sidecar() == sidecar).toList();
    return releases.stream()
        .filter(release -> release.from().compareTo(server) <= 0)
        .reduce((_, later) -> later)
        .orElseGet(releases::getFirst);
  }

  public String image() {
    return REGISTRY + sidecar.repository() + ":" + tag;
  }

  /** The arguments of a container, with the flags of this release at the end. */
  public List<String> arguments(String... arguments) {
    return Stream.concat(Arrays.stream(arguments), flags.stream()).toList();
  }

  private static List<PolicyRule> provision(String volumeVerbs) {
    return List.of(
        rule("", "persistentvolumes", volumeVerbs),
        rule("", "persistentvolumeclaims", READ + ",update"),
        rule("", "nodes", READ));
  }

  private static SidecarRelease release(
      Sidecar sidecar, String from, String tag, List<String> flags, List<PolicyRule> rules) {
    return release(sidecar, from, tag, flags, rules, List.of());
  }

  private static SidecarRelease release(
      Sidecar sidecar,
      String from,
      String tag,
      List<String> flags,
      List<PolicyRule> rules,
      List<PolicyRule> laterRules) {
    return new SidecarRelease(
        sidecar, KubernetesVersion.parse(from), tag, flags, rules, laterRules);
  }

  /** The rules of several releases, later ones at the end, each once. */
  public static List<PolicyRule> laterRules(List<SidecarRelease> releases) {
    var rules = new ArrayList<PolicyRule>();
    for (SidecarRelease release : releases) {
      release.laterRules().stream().filter(rule -> !rules.contains(rule)).forEach(rules::add);
    }
    return rules;
  }
}
