package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.node.RealNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A driver with a central controller, from the sample of a Deployment v1alpha1, and its migration
 * to a PmemCSIDeployment. Another driver may run on the node.
 */
final class CentralDriver implements AutoCloseable {

  static final String DRIVER = "central.pmem-csi.intel.com";
  static final String STORAGE_CLASS = "central";

  private static final String NAME = "pmem-deployment";
  private static final String MISSING = "localhost/missing:none";

  private static final String RESOURCE =
      Installation.sample("v1alpha1/pmem-csi.yaml", "logLevel: 5")
          .replace("driverName: pmem-csi.intel.com", "driverName: " + DRIVER);

  private static final String MIGRATED =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata: {name: %s}
      """
          .formatted(DRIVER);

  private static final String CLASS =
      """
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: %s}
      provisioner: %s
      volumeBindingMode: WaitForFirstConsumer
      """
          .formatted(STORAGE_CLASS, DRIVER);

  /** The node has no DNS server, and the driver's pods look up the controller. */
  private static final String DNS =
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: dns, namespace: default}
      spec:
        hostNetwork: true
        terminationGracePeriodSeconds: 0
        containers:
        - name: dns
          image: %s
          args: ["%s-controller.%s.svc.cluster.local=%s"]
          env: [{name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]
      """;

  private final KubernetesClient client;
  private final Installation installation;
  private final Path work;
  private final Kubectl kubectl;

  CentralDriver(RealNode node, Installation installation, Path work) {
    this.client = node.client();
    this.installation = installation;
    this.work = work;
    this.kubectl = new Kubectl(node.cluster(), Installation.ROOT, work.resolve("cache"));
  }

  /** The user's first attempt has a wrong image; the status says so, and a correction is enough. */
  void install() {
    client.resource(CLASS).create();
    client.resource(withImage(MISSING)).create();
    await("reason in the status")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () ->
                assertThat(String.valueOf(installation.status(RESOURCE).get("driverComponents")))
                    .contains(
                        NAME + "-controller-0",
                        "cannot pull the image \"%s\"".formatted(MISSING),
                        "load the image onto the node"));
    assertThat(installation.status(RESOURCE).get("phase")).isEqualTo("Initializing");

    installation.change(withImage("pmem-csi-driver:canary"));
    startDns();
    installation.awaitRunning(RESOURCE);
  }

  private static String withImage(String image) {
    return RESOURCE.replace("spec:\n", "spec:\n  image: %s\n".formatted(image));
  }

  private void startDns() {
    String controller =
        client
            .services()
            .inNamespace(Installation.NAMESPACE)
            .withName(NAME + "-controller")
            .get()
            .getSpec()
            .getClusterIP();
    client.resource(DNS.formatted(StandIns.DNS, NAME, Installation.NAMESPACE, controller)).create();
  }

  /** Ready and existing containers of each pod, as {@code kubectl get pods} shows them. */
  Map<String, String> readyContainers() {
    return pods()
        .collect(
            Collectors.toMap(
                pod -> pod.getMetadata().getName().replaceAll("-node-.*", "-node"),
                pod -> {
                  List<ContainerStatus> all = pod.getStatus().getContainerStatuses();
                  return "%d/%d"
                      .formatted(
                          all.stream().filter(ContainerStatus::getReady).count(), all.size());
                }));
  }

  private Stream<Pod> pods() {
    return client
        .pods()
        .inNamespace(Installation.NAMESPACE)
        .withLabel("app.kubernetes.io/instance", DRIVER)
        .list()
        .getItems()
        .stream();
  }

  /** In what users see: logs, status, events, and the output of the command line. */
  void assertNoKeyIsShown() throws Exception {
    Map<String, String> shown = new HashMap<>();
    client.pods().inNamespace(Installation.NAMESPACE).list().getItems().stream()
        .map(pod -> pod.getMetadata().getName())
        .forEach(
            pod ->
                shown.put(
                    "log of " + pod,
                    kubectl.run("logs", "--all-containers", "-n=" + Installation.NAMESPACE, pod)));
    shown.put("events", kubectl.run("get", "events", "--all-namespaces", "-o=yaml"));
    shown.put("resource", kubectl.run("get", "deployments.pmem-csi.intel.com", "-o=yaml"));
    Path file = Files.writeString(work.resolve("deployment.yaml"), RESOURCE);
    shown.put("diff", installation.pmemCsi(List.of(0, 1), "diff", "-f", file.toString()));
    shown.put("status", installation.pmemCsi(List.of(0, 1), "status"));
    List<Map.Entry<String, String>> keys = keys();
    assertThat(keys).extracting(Map.Entry::getKey).contains("tls.key", "ca.key");
    List<String> lines =
        keys.stream().map(Map.Entry::getValue).flatMap(CentralDriver::secretLines).toList();
    shown.forEach(
        (what, text) -> {
          assertThat(text).as(what).isNotEmpty().doesNotContain("PRIVATE KEY");
          lines.forEach(line -> assertThat(text.contains(line)).as(what).isFalse());
        });
  }

  /** The keys of the certificates, and those of the CA, which sign them. */
  private List<Map.Entry<String, String>> keys() {
    return client.secrets().inNamespace(Installation.NAMESPACE).list().getItems().stream()
        .map(Secret::getData)
        .filter(Objects::nonNull)
        .flatMap(data -> data.entrySet().stream())
        .filter(entry -> entry.getKey().endsWith(".key"))
        .toList();
  }

  /** What is secret of a key, as it is and as the API shows it. */
  private static Stream<String> secretLines(String encoded) {
    return Stream.concat(
        Stream.of(encoded),
        new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank() && !line.startsWith("-")));
  }

  /** Step by step as in docs/migration.md, with an image for the sidecar that is new. */
  void migrate() throws Exception {
    Path file =
        Files.writeString(
            work.resolve("pmem-csi.yaml"),
            installation.pmemCsi(List.of(0), "migrate", "--name", NAME)
                + "  resizerImage: %s\n".formatted(StandIns.RESIZER));

    kubectl.run("apply", "-f", file.toString());
    await("conflict in the status")
        .untilAsserted(
            () ->
                assertThat(String.valueOf(installation.status(MIGRATED).get("reason")))
                    .contains("is used by Deployment \"%s\"".formatted(NAME)));
    assertThat(installation.status(RESOURCE).get("phase")).isEqualTo("Running");

    String resource = "deployments.pmem-csi.intel.com";
    kubectl.run("annotate", resource, NAME, "pmem-csi.intel.com/force-deletion=true");
    kubectl.run("delete", resource, NAME);

    installation.awaitRunning(MIGRATED);
  }

  /** Deletes the migrated resource; nothing of either resource is left. */
  void uninstall() {
    client.resource(MIGRATED).delete();
    awaitDeleted();
    assertThat(client.secrets().inNamespace(Installation.NAMESPACE).list().getItems())
        .extracting(secret -> secret.getMetadata().getName())
        .noneMatch(name -> name.startsWith(NAME));
  }

  private void awaitDeleted() {
    await("deleted driver")
        .atMost(Installation.LIMIT)
        .untilAsserted(
            () -> {
              assertThat(client.resource(RESOURCE).get()).isNull();
              assertThat(client.resource(MIGRATED).get()).isNull();
              assertThat(client.storage().v1().csiDrivers().withName(DRIVER).get()).isNull();
              assertThat(pods()).isEmpty();
            });
  }

  /** After a failure, too: other tests use the same node. */
  @Override
  public void close() {
    for (String resource : List.of(RESOURCE, MIGRATED)) {
      if (client.resource(resource).get() != null) {
        client
            .resource(resource)
            .edit(
                found -> {
                  found
                      .getMetadata()
                      .setAnnotations(Map.of("pmem-csi.intel.com/force-deletion", "true"));
                  return found;
                });
        client.resource(resource).delete();
      }
    }
    client.pods().inNamespace("default").withName("dns").delete();
    client.resource(CLASS).delete();
    awaitDeleted();
  }
}
