package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files in deploy/, used as documented. */
@WithKubernetes
class InstallIT {

  private static final String NAMESPACE = "pmem-csi";

  /** The sample's, and how names of its objects begin. */
  private static final String DRIVER = "pmem-csi.intel.com";

  private static final String PREFIX = "pmem-csi-intel-com";

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir private Path cache;

  @Test
  void filesCanBeAppliedAndAppliedAgain(Sandbox sandbox) throws IOException {
    var kubectl = new Kubectl(sandbox.cluster(), Path.of(".."), cache);
    String[] install = {
      "apply", "-f", "deploy/crd", "-f", "deploy/operator/pmem-csi-operator.yaml"
    };
    sandbox.cleanUp(
        () ->
            kubectl.run("delete", "--wait=false", "-f", "deploy/operator/pmem-csi-operator.yaml"));

    String first = kubectl.run(install);
    String second = kubectl.run(install);

    assertThat(first).contains("deployment.apps/pmem-csi-operator created");
    Definitions.awaitServed(sandbox.client(), Path.of("../deploy/crd"));
    assertThat(second.lines()).hasSizeGreaterThan(10).allMatch(line -> line.endsWith("unchanged"));
    sampleIsAllThatIsMissing(sandbox, kubectl);
    // the server also accepts the files for an installation without an operator, and all samples
    for (String directory : list("deploy", "kubernetes-.*")) {
      for (String file : list(directory, ".*\\.yaml")) {
        assertAccepted(sandbox.client(), Path.of("..", file));
      }
    }
    assertAccepted(kubectl, "deploy/kustomize/scheduler/scheduler-service.yaml");
    assertAccepted(kubectl, webhookWithAuthority().toString());
    // kubectl also refuses fields that this version of Kubernetes does not know
    String served = "deploy/kubernetes-" + newestFor(sandbox.version());
    assertAccepted(kubectl, served + "/pmem-csi-lvm-testing.yaml");
    sandbox.create(
        new RuntimeClassBuilder()
            .withNewMetadata()
            .withName("kata-qemu")
            .endMetadata()
            .withHandler("kata-qemu")
            .build());
    for (String file : list("deploy/common", ".*\\.yaml")) {
      // PodVolumesIT uses such a volume, on a server where this feature is on
      if (!file.endsWith("/pmem-app-generic-ephemeral.yaml")) {
        assertAccepted(kubectl, file);
      }
    }
    serveOthersKinds(sandbox);
    for (String file : list("deploy/snapshots", ".*\\.yaml")) {
      assertAccepted(kubectl, file);
    }
    assertAccepted(kubectl, "deploy/monitoring/podmonitors.yaml");
    assertAccepted(kubectl, "deploy/monitoring/prometheusrule.yaml");
  }

  /** The APIs of external-snapshotter and of the Prometheus operator, without their schemas. */
  private static void serveOthersKinds(Sandbox sandbox) {
    var definitions = new ArrayList<CustomResourceDefinition>();
    for (String kind :
        List.of(
            "VolumeSnapshotClass Cluster volumesnapshotclasses snapshot.storage.k8s.io",
            "VolumeSnapshot Namespaced volumesnapshots snapshot.storage.k8s.io",
            "PodMonitor Namespaced podmonitors monitoring.coreos.com",
            "PrometheusRule Namespaced prometheusrules monitoring.coreos.com")) {
      String[] words = kind.split(" ", -1);
      definitions.add(
          sandbox.create(
              Serialization.unmarshal(
                  """
                  metadata:
                    name: %3$s.%4$s
                    annotations: {api-approved.kubernetes.io: unapproved}
                  spec:
                    group: %4$s
                    scope: %2$s
                    names: {kind: %1$s, plural: %3$s}
                    versions:
                    - name: v1
                      served: true
                      storage: true
                      schema:
                        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
                  """
                      .formatted((Object[]) words),
                  CustomResourceDefinition.class)));
    }
    Definitions.awaitServed(sandbox.client(), definitions);
  }

  /** Users set the CA by a patch. */
  private Path webhookWithAuthority() throws IOException {
    String authority = new Certificates("webhook").authorityPem();
    return Files.writeString(
        cache.resolve("webhook.yaml"),
        Files.readString(Path.of("../deploy/kustomize/webhook/webhook.yaml"))
            .replace(
                "REPLACE_WITH_CA",
                Base64.getEncoder().encodeToString(authority.getBytes(StandardCharsets.UTF_8))));
  }

  /** A directory serves its version of Kubernetes and all later ones up to the next directory. */
  private static KubernetesVersion newestFor(KubernetesVersion server) throws IOException {
    return list("deploy", "kubernetes-.*").stream()
        .map(directory -> directory.substring(directory.indexOf('-') + 1))
        .map(KubernetesVersion::parse)
        .filter(version -> version.compareTo(server) <= 0)
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  private static void assertAccepted(Kubectl kubectl, String file) {
    // kubectl 1.20 reads the CRD with a deprecated version of its API
    assertThat(
            kubectl
                .run("apply", "--dry-run=server", "-f", file)
                .lines()
                .filter(line -> !line.startsWith("Warning: apiextensions.k8s.io/v1beta1")))
        .as(file)
        .isNotEmpty()
        .allMatch(line -> line.endsWith("(server dry run)"));
  }

  /** The namespace, which every file has, exists. */
  private static void assertAccepted(KubernetesClient client, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      assertThat(client.load(in).items())
          .as("%s", file)
          .hasSizeGreaterThan(10)
          .filteredOn(object -> !(object instanceof Namespace))
          // files for newer servers have kinds that this one may not know
          .filteredOn(object -> client.supports(object.getClass()))
          .allSatisfy(object -> client.resource(object).dryRun().create());
    }
  }

  private static List<String> list(String directory, String names) throws IOException {
    try (Stream<Path> found = Files.list(Path.of("..", directory))) {
      return found
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches(names))
          .map(name -> directory + "/" + name)
          .sorted()
          .toList();
    }
  }

  /** The commands in the documentation of the first operator for drivers from templates. */
  @Test
  void quickStartForDriversFromTemplatesWorksInAnyNamespace(Sandbox sandbox) throws IOException {
    var kubectl = new Kubectl(sandbox.cluster(), Path.of(".."), cache);
    sandbox.cleanUp(
        () ->
            kubectl.run(
                "delete",
                "--wait=false",
                "-f",
                "deploy/prerequisites/02-namespace.yaml",
                "-f",
                "deploy/prerequisites/03-rbac.yaml"));

    kubectl.run("apply", "-f", "deploy/prerequisites");
    kubectl.run("apply", "-f", "deploy/operator.yaml");
    // the definitions of other kinds, which may or may not be there
    Definitions.install(sandbox.client(), Path.of("../deploy/crd"));

    try (var operator = start(sandbox, "csi-operator", "csi-operator")) {
      assertThat(operator.metricsPort()).isEmpty();
      String namespace = "--namespace=" + sandbox.namespace();
      Path account = cache.resolve("account.yaml");
      Files.writeString(
          account,
          Files.readString(Path.of("../deploy/samples/accounts/hostpath.yaml"))
              .replace("namespace: default", "namespace: " + sandbox.namespace()));
      sandbox.cleanUp(() -> kubectl.run("delete", "-f", account.toString()));

      kubectl.run("apply", "-f", account.toString());
      kubectl.run(namespace, "apply", "-f", "deploy/samples/hostpath.yaml");

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(kubectl.run(namespace, "get", "all"))
                      .contains("daemonset.apps/hostpath-node"));
      kubectl.run(namespace, "delete", "-f", "deploy/samples/hostpath.yaml");
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(kubectl.run(namespace, "get", "all")).doesNotContain("hostpath-node"));
    }
  }

  /** This JVM replaces the process of the operator pod, with the pod's service account. */
  private static OperatorProgram start(Sandbox sandbox, String namespace, String name) {
    Pod pod =
        await()
            .atMost(LIMIT)
            .until(() -> operatorPod(sandbox, namespace, name), Optional::isPresent)
            .get();
    awaitRights(sandbox, namespace, name);
    return OperatorProgram.start(
        sandbox.clientAs(namespace, name),
        new OperatorOptions(
            Optional.empty(), Optional.empty(), Optional.empty(), true, Optional.empty()),
        InstalledOperator.environment(pod),
        Clock.systemUTC());
  }

  private static void sampleIsAllThatIsMissing(Sandbox sandbox, Kubectl kubectl) {
    sandbox.cleanUp(() -> Leftovers.remove(sandbox.client(), NAMESPACE, PREFIX, DRIVER));
    try (var operator = start(sandbox, NAMESPACE, OperatorInstallation.NAME)) {
      assertThat(operator.metricsPort()).isEmpty();

      kubectl.run("apply", "-f", "deploy/samples/pmem-csi.yaml");

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(kubectl.run("get", "pcd", DRIVER)).contains("Initializing"));
      assertThat(image(sandbox)).isEqualTo(OperatorInstallation.DEFAULT_IMAGE);

      kubectl.run("delete", "-f", "deploy/samples/pmem-csi.yaml");
      assertThat(Leftovers.of(sandbox.client(), NAMESPACE, PREFIX, DRIVER)).isEmpty();
    }
  }

  /** One permission of each role: the authorizer observes new roles one by one. */
  private static void awaitRights(Sandbox sandbox, String namespace, String name) {
    sandbox.awaitRight(namespace, name, namespace, "update", "coordination.k8s.io", "leases");
    sandbox.awaitRight(namespace, name, "", "list", "storage.k8s.io", "csidrivers");
    sandbox.awaitRight(namespace, name, "default", "create", "", "events");
  }

  private static Optional<Pod> operatorPod(Sandbox sandbox, String namespace, String name) {
    return sandbox
        .client()
        .pods()
        .inNamespace(namespace)
        .withLabel("app", name)
        .list()
        .getItems()
        .stream()
        .findFirst();
  }

  private static String image(Sandbox sandbox) {
    return sandbox
        .client()
        .apps()
        .daemonSets()
        .inNamespace(NAMESPACE)
        .withName(PREFIX + "-node")
        .get()
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }
}
