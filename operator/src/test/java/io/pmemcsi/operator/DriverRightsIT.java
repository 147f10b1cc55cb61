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

/** What the pods of a driver may do, asked and tried under the tokens of their own accounts. */
@WithKubernetes(controllers = false)
class DriverRightsIT {

  private static final String READ = "get list watch";

  /** What the provisioner on each node needs, in the whole cluster. */
  private static final Map<String, String> OF_NODES =
      Map.of(
          "persistentvolumes",
          READ + " create delete",
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
  void podsMayDoWhatTheyNeedAndNothingElse() {
    ClusterFacts facts =
        new ClusterProbe(sandbox.client()).facts(sandbox.namespace(), InstalledOperator.IMAGE);
    Map<String, String> nodesAtHome = new TreeMap<>(Map.of("pods", "get"));
    Map<String, String> controllerAtHome =
        new TreeMap<>(
            Map.of("pods", READ, "leases.coordination.k8s.io", "get create update patch"));
    if (facts.serves(ServedApi.STORAGE_CAPACITY)) {
      String capacities = "csistoragecapacities.storage.k8s.io";
      nodesAtHome.put(capacities, READ + " create update patch delete");
      controllerAtHome.put(capacities, READ);
    }
    Map<String, String> ofNodes = new TreeMap<>(OF_NODES);
    if (facts.version().atLeast(1, 27)) {
      ofNodes.put("persistentvolumes", READ + " create patch delete");
    }
    if (facts.version().atLeast(1, 34)) {
      ofNodes.put("volumeattributesclasses.storage.k8s.io", READ);
    }

    assertRights("controller", nodesAtHome, ofNodes);
    assertRights("webhooks", controllerAtHome, OF_CONTROLLER);
    assertRights("node-setup", Map.of(), Map.of("nodes", "patch"));

    // the answers are no theory
    KubernetesClient node = as("controller");
    assertThat(node.persistentVolumes().list().getItems()).isNotNull();
    assertThat(node.persistentVolumeClaims().inAnyNamespace().list().getItems()).isNotNull();
    for (String account : List.of("controller", "webhooks", "node-setup")) {
      assertThatThrownBy(() -> as(account).secrets().inNamespace(sandbox.namespace()).list())
          .as(account)
          .hasMessageContaining("forbidden");
    }
  }

  private void assertRights(
      String account, Map<String, String> atHome, Map<String, String> everywhere) {
    Map<String, Set<String>> wanted = new TreeMap<>();
    everywhere.forEach((what, verbs) -> wanted.put(what, verbs(verbs)));
    awaitRights(account, "default", wanted);
    atHome.forEach((what, verbs) -> wanted.put(what, verbs(verbs)));
    awaitRights(account, sandbox.namespace(), wanted);
  }

  /** The server itself learns of a new binding a moment later. */
  private void awaitRights(String account, String namespace, Map<String, Set<String>> wanted) {
    await()
        .pollDelay(Duration.ZERO)
        .untilAsserted(() -> assertThat(rights(account, namespace)).as(account).isEqualTo(wanted));
  }

  private static Set<String> verbs(String verbs) {
    return new TreeSet<>(Arrays.asList(verbs.split(" ")));
  }

  /** All that an account may do in a namespace, but for asking what it may do. */
  private Map<String, Set<String>> rights(String account, String namespace) {
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
        .filter(rule -> !rule.getApiGroups().contains("authorization.k8s.io"))
        .forEach(rule -> add(rule, result));
    return result;
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
