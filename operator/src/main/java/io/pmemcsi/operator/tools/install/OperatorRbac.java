package io.pmemcsi.operator.tools.install;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.objects.Rbac;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * The permissions of the operator, without a wildcard and without secrets of other namespaces. The
 * API server refuses an escalation, so that it needs everything that it grants to drivers.
 */
final class OperatorRbac {

  /** Server-side apply is a patch, and a create where the object is missing. */
  private static final String OWN = READ + ",create,patch,delete";

  private final Kinds kinds = Kinds.offline();

  List<PolicyRule> inOwnNamespace() {
    return Rbac.merge(
        Stream.of(
                Stream.of(
                    rule("", "configmaps", "get,delete"),
                    rule("", "pods", READ),
                    rule("apps", "statefulsets", "get,delete"),
                    rule("coordination.k8s.io", "leases", "get,create,update,patch")),
                kinds.all().stream()
                    .filter(kind -> !isNamespaced(kind.traits()))
                    .flatMap(
                        kind ->
                            Stream.concat(owned(kind.traits(), true), rulesOf(kind, Role.class))))
            .flatMap(rules -> rules)
            .toList());
  }

  List<PolicyRule> inCluster() {
    var rules =
        new ArrayList<>(
            Rbac.merge(
                Stream.of(
                        Stream.of(
                            rule("", "nodes", READ),
                            // a driver is removed only if nothing uses it
                            rule("", "persistentvolumes,pods", "list"),
                            rule("storage.k8s.io", "volumeattachments", "list"),
                            rule("snapshot.storage.k8s.io", "volumesnapshotcontents", "list"),
                            // volumes of deleted nodes are released where a user wants that
                            rule("", "persistentvolumes", "get,patch,delete"),
                            rule("", "persistentvolumeclaims", "get,delete"),
                            // a draining update works on nodes and on pods of other namespaces
                            rule("", "nodes", "patch"),
                            rule("", "pods", "delete"),
                            rule("", "pods/eviction", "create"),
                            rule("storage.k8s.io", "csinodes", READ),
                            rule("apps", "controllerrevisions", "list"),
                            // the status says why no pod can be created
                            rule("", "events", "create,list,patch")),
                        kinds.all().stream().flatMap(this::inCluster))
                    .flatMap(all -> all)
                    .toList()));
    // on OpenShift privileged pods need this role, which only its holders or binders may grant
    rules.add(
        new PolicyRuleBuilder()
            .withApiGroups(Rbac.GROUP)
            .withResources("clusterroles")
            .withResourceNames(
                "system:openshift:scc:privileged",
                // the documented names of roles that the configuration file may have
                "system:openshift:csi-driver",
                "system:openshift:csi-driver-controller-leader-election")
            .withVerbs("bind")
            .build());
    return rules;
  }

  /** The objects of a namespaced resource are in its namespace, which may be any. */
  private Stream<PolicyRule> inCluster(DriverKind<?, ?, ?, ?, ?> kind) {
    KindTraits<?> traits = kind.traits();
    return Stream.of(
            resource(traits),
            owned(traits, false),
            rulesOf(kind, ClusterRole.class),
            isNamespaced(traits)
                ? Stream.concat(owned(traits, true), rulesOf(kind, Role.class))
                : Stream.<PolicyRule>empty())
        .flatMap(rules -> rules);
  }

  /** Events about cluster-scoped resources are in the default namespace. */
  static List<PolicyRule> inDefaultNamespace() {
    return Rbac.merge(List.of(rule("", "events", "create,patch")));
  }

  private static Stream<PolicyRule> resource(KindTraits<?> traits) {
    String group = HasMetadata.getGroup(traits.type());
    String plural = HasMetadata.getPlural(traits.type());
    return Stream.of(
        // the finalizer is a patch of the resource
        rule(group, plural, READ + ",patch"),
        rule(group, plural + "/status", "get,update,patch"),
        rule(group, plural + "/finalizers", "update"));
  }

  private static Stream<PolicyRule> owned(KindTraits<?> traits, boolean namespaced) {
    return traits.owned().kinds().stream()
        .filter(type -> Namespaced.class.isAssignableFrom(type) == namespaced)
        .map(type -> rule(HasMetadata.getGroup(type), HasMetadata.getPlural(type), OWN));
  }

  private static boolean isNamespaced(KindTraits<?> traits) {
    return Namespaced.class.isAssignableFrom(traits.type());
  }

  /** Everything that a kind may ever grant, on any cluster. */
  private static Stream<PolicyRule> rulesOf(
      DriverKind<?, ?, ?, ?, ?> kind, Class<? extends HasMetadata> type) {
    return everyObject(kind)
        .filter(type::isInstance)
        .flatMap(
            object ->
                switch (object) {
                  case Role role -> role.getRules().stream();
                  case ClusterRole role -> role.getRules().stream();
                  default -> Stream.empty();
                });
  }

  private static <R extends CustomResource<?, S>, S> Stream<HasMetadata> everyObject(
      DriverKind<R, S, ?, ?, ?> kind) {
    var objects = new ArrayList<HasMetadata>();
    for (int minor = KubernetesVersion.OLDEST.minor();
        minor <= KubernetesVersion.NEWEST_KNOWN.minor();
        minor++) {
      var facts =
          new ClusterFacts(
              new KubernetesVersion(1, minor), "any", "any", EnumSet.allOf(ServedApi.class));
      objects.addAll(kind.render(kind.withEveryFeature(), facts).objects());
    }
    return objects.stream();
  }
}
