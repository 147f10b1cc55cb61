package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The permissions of the pods of a driver, checked with the tokens of their service accounts. */
@WithKubernetes(controllers = false)
class DriverRbacIT {

  private static final String READ = "get list watch";

  /** What the provisioner on each node needs, in the whole cluster. */
  private static final Map<String, String> OF_NODES =
      Map.of(
          "persistentvolumes",
          READ + " create patch delete",
          "persistentvolumeclaims/status",
          "patch",
          "persistentvolumeclaims",
          READ + " update",
          "nodes",
          READ,
          "events",
          "list watch create update patch",
          "storageclasses.storage.k8s.io",
          READ,
          "csinodes.storage.k8s.io",
          READ);

  /** What the scheduler extender, the webhook and the rescheduler need. */
  private static final Map<String, String> OF_CONTROLLER =
      Map.of(
          "persistentvolumes", READ,
          "persistentvolumeclaims", READ + " patch update",
          "pods", READ,
          "nodes", READ,
          "events", READ + " create patch update",
          "storageclasses.storage.k8s.io", READ,
          "csinodes.storage.k8s.io", READ);

  private Sandbox sandbox;
  private TestDriver driver;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    InstalledOperator.install(sandbox).start();
    driver = new TestDriver(sandbox, "rights.example.com");
    driver.create("controllerTLS: {managed: true}");
    driver.awaitPhase("Initializing");
  }

  @Test
  void podsHaveExactlyThePermissionsTheyNeed() {
    ClusterFacts facts =
        new ClusterProbe(sandbox.client()).facts(sandbox.namespace(), InstalledOperator.IMAGE);
    Map<String, String> nodesAtHome =
        new TreeMap<>(
            Map.of(
                "pods",
                "get",
                // the resizer elects a leader
                "leases.coordination.k8s.io",
                READ + " create update patch delete"));
    Map<String, String> controllerAtHome =
        new TreeMap<>(
            Map.of("pods", READ, "leases.coordination.k8s.io", "get create update patch"));
    if (facts.serves(ServedApi.STORAGE_CAPACITY)) {
      String capacities = "csistoragecapacities.storage.k8s.io";
      nodesAtHome.put(capacities, READ + " create update patch delete");
      controllerAtHome.put(capacities, READ);
    }
    Map<String, String> ofNodes = new TreeMap<>(OF_NODES);
    if (facts.version().atLeast(1, 34)) {
      ofNodes.put("volumeattributesclasses.storage.k8s.io", READ);
    }

    assertPermissions("controller", nodesAtHome, ofNodes);
    assertPermissions("webhooks", controllerAtHome, OF_CONTROLLER);
    assertPermissions("node-setup", Map.of(), Map.of("nodes", "patch"));

    // the server enforces what it reports
    KubernetesClient node = as("controller");
    assertThat(node.persistentVolumes().list().getItems()).isNotNull();
    assertThat(node.persistentVolumeClaims().inAnyNamespace().list().getItems()).isNotNull();
    for (String account : List.of("controller", "webhooks", "node-setup")) {
      assertThatThrownBy(() -> as(account).secrets().inNamespace(sandbox.namespace()).list())
          .as(account)
          .hasMessageContaining("forbidden");
    }

    driver.setSpec("controllerTLS: {managed: true}, startupTaint: true");
    ofNodes.put("nodes", READ + " patch");
    assertPermissions("controller", nodesAtHome, ofNodes);
  }

  private void assertPermissions(
      String account, Map<String, String> atHome, Map<String, String> everywhere) {
    Map<String, Set<String>> expected = new TreeMap<>();
    everywhere.forEach((what, verbs) -> expected.put(what, verbs(verbs)));
    awaitPermissions(account, "default", expected);
    atHome.forEach((what, verbs) -> expected.put(what, verbs(verbs)));
    awaitPermissions(account, sandbox.namespace(), expected);
  }

  /** The authorizer observes a new binding a moment later. */
  private void awaitPermissions(
      String account, String namespace, Map<String, Set<String>> expected) {
    await()
        .pollDelay(Duration.ZERO)
        .untilAsserted(
            () -> assertThat(permissions(account, namespace)).as(account).isEqualTo(expected));
  }

  private static Set<String> verbs(String verbs) {
    return new TreeSet<>(Arrays.asList(verbs.split(" ")));
  }

  /** All permissions of an account in a namespace, except those that every account has. */
  private Map<String, Set<String>> permissions(String account, String namespace) {
    var result = new TreeMap<String, Set<String>>();
    as(account)
        .authorization()
        .v1()
        .selfSubjectRulesReview()
        .create(
            new SelfSubjectRulesReviewBuilder()
                .withNewSpec()
                .withNamespace(namespace)
                .endSpec()
                .build())
        .getStatus()
        .getResourceRules()
        .stream()
        .filter(rule -> !rule.getResources().stream().allMatch(DriverRbacIT::isForEveryAccount))
        .forEach(rule -> add(rule, result));
    return result;
  }

  /**
   * Every account may ask who it is, from 1.28 on, and what it may do; and read public
   * certificates, where the server has the API.
   */
  private static boolean isForEveryAccount(String resource) {
    return resource.startsWith("selfsubject") || resource.equals("clustertrustbundles");
  }

  private static void add(ResourceRule rule, Map<String, Set<String>> to) {
    for (String group : rule.getApiGroups()) {
      for (String resource : rule.getResources()) {
        String what = group.isEmpty() ? resource : resource + "." + group;
        to.computeIfAbsent(what, _ -> new TreeSet<>()).addAll(rule.getVerbs());
      }
    }
  }

  private KubernetesClient as(String account) {
    return sandbox.clientAs(driver.prefix() + "-" + account);
  }
}
