package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.pmemdriver.PmemNames;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The driver without the operator. A directory serves its version of Kubernetes and all later ones
 * up to the next directory; the files in it are also kustomize bases.
 */
final class DriverFiles {

  /** The versions with which the objects change. */
  static final List<String> VERSIONS =
      List.of("1.20", "1.21", "1.22", "1.25", "1.27", "1.32", "1.34", "1.37");

  static final List<String> MODES = List.of("lvm", "direct", "file");

  /** The versions of the API in which kube-scheduler reads its configuration. */
  private static final List<String> SCHEDULER_VERSIONS =
      List.of("v1beta1", "v1beta2", "v1beta3", "v1");

  private static final PmemNames NAMES = new PmemNames(new DriverName("pmem-csi.intel.com"));

  /** Mode and flavor of the installation; log level; whether the pod webhook is installed. */
  private static final String RESOURCE =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata:
        name: pmem-csi.intel.com
      spec:
        deviceMode: %s
        labels:
          pmem-csi.intel.com/deployment: %s
        logLevel: %d
        controllerTLSSecret: pmem-csi-intel-com-controller-secret
        mutatePods: %s
      """;

  /** Forwards a port of the node to the socket of the driver, for conformance tests. */
  private static final String CSI_PORT =
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata:
        name: pmem-csi-intel-com-node-testing
        namespace: pmem-csi
        labels:
          app.kubernetes.io/name: pmem-csi-node-testing
          app.kubernetes.io/part-of: pmem-csi
          app.kubernetes.io/component: node-testing
          app.kubernetes.io/instance: pmem-csi.intel.com
          pmem-csi.intel.com/deployment: %1$s
      spec:
        selector:
          matchLabels:
            app.kubernetes.io/name: pmem-csi-node-testing
            app.kubernetes.io/instance: pmem-csi.intel.com
        template:
          metadata:
            labels:
              app.kubernetes.io/name: pmem-csi-node-testing
              app.kubernetes.io/part-of: pmem-csi
              app.kubernetes.io/component: node-testing
              app.kubernetes.io/instance: pmem-csi.intel.com
              pmem-csi.intel.com/deployment: %1$s
              pmem-csi.intel.com/webhook: ignore
          spec:
            nodeSelector:
              storage: pmem
            tolerations:
            - operator: Exists
            containers:
            - name: socat
              image: docker.io/alpine/socat:1.0.3
              args:
              - -s
              - tcp-listen:9735,fork,reuseaddr
              - unix-connect:/csi/csi.sock
              ports:
              - name: csi-socket
                containerPort: 9735
                hostPort: 9735
              securityContext:
                privileged: true
              volumeMounts:
              - name: socket-dir
                mountPath: /csi
            volumes:
            - name: socket-dir
              hostPath:
                path: /var/lib/kubelet/plugins/pmem-csi.intel.com
                type: DirectoryOrCreate
      """;

  /** Version of the API; service, its namespace, secret and extended resource of the driver. */
  private static final String SCHEDULER =
      """
      # For kube-scheduler --config; docs/scheduling.md says which version of Kubernetes takes which file.
      apiVersion: kubescheduler.config.k8s.io/%1$s
      kind: KubeSchedulerConfiguration
      clientConnection:
        # where kubeadm puts it
        kubeconfig: /etc/kubernetes/scheduler.conf
      extenders:
      # or https://127.0.0.1:32000 with a node port, where kube-scheduler cannot resolve services
      - urlPrefix: https://%2$s.%3$s.svc
        filterVerb: filter
        prioritizeVerb: prioritize
        nodeCacheCapable: true
        weight: 1
        enableHTTPS: true
        tlsConfig:
          # kubectl -n %3$s get secret %4$s -o jsonpath='{.data.ca\\.crt}'
          caData: REPLACE_WITH_CA
        managedResources:
        - name: %5$s
          ignoredByScheduler: true
      """;

  private static final String KUSTOMIZATION =
      """
      apiVersion: kustomize.config.k8s.io/v1beta1
      kind: Kustomization
      resources:
      - %s
      """;

  /** Patches may name the DaemonSet as earlier releases did. */
  private static final String DAEMON_SET_NAME =
      """
      patches:
      - target:
          kind: DaemonSet
          name: pmem-csi-node
        patch: |
          - op: replace
            path: /metadata/name
            value: pmem-csi-intel-com-node
        options:
          allowNameChange: true
      """;

  private DriverFiles() {}

  static List<GeneratedFile> all() {
    var files = new ArrayList<GeneratedFile>();
    for (String version : VERSIONS) {
      for (String mode : MODES) {
        files.addAll(files(version, mode, false));
        files.addAll(files(version, mode, true));
      }
    }
    SCHEDULER_VERSIONS.stream().map(DriverFiles::scheduler).forEach(files::add);
    files.addAll(schedulerService());
    files.addAll(webhook());
    return files;
  }

  private static List<GeneratedFile> files(String version, String mode, boolean testing) {
    String directory = "kubernetes-" + version + "/";
    String base = directory + mode + (testing ? "/testing/" : "/");
    return List.of(
        GeneratedFile.of(
            directory + "pmem-csi-" + mode + (testing ? "-testing" : "") + ".yaml",
            objects(version, mode, testing)),
        GeneratedFile.of(
            base + "pmem-csi.yaml",
            objects(version, mode, testing).stream().map(DriverFiles::withEarlierName).toList()),
        kustomization(base, "pmem-csi.yaml", DAEMON_SET_NAME));
  }

  static List<HasMetadata> objects(String version, String mode, boolean testing) {
    String flavor = mode + (testing ? "-testing" : "-production");
    var objects = new ArrayList<HasMetadata>();
    objects.add(OperatorInstallation.namespaceOf(OperatorFiles.NAMESPACE));
    rendered(KubernetesVersion.parse(version), mode, flavor, testing ? 5 : 3, "Never")
        .filter(Predicate.not(DriverFiles::isForScheduler))
        .forEach(objects::add);
    if (testing) {
      objects.add(
          new KubernetesSerialization().unmarshal(CSI_PORT.formatted(flavor), DaemonSet.class));
    }
    return objects;
  }

  private static Stream<HasMetadata> rendered(
      KubernetesVersion version, String mode, String flavor, int logLevel, String mutatePods) {
    var rendering = new Rendering();
    return rendering
        .objects(
            rendering.read(RESOURCE.formatted(mode, flavor, logLevel, mutatePods)),
            ClusterFacts.assumed(
                version, OperatorFiles.NAMESPACE, OperatorInstallation.DEFAULT_IMAGE))
        .stream();
  }

  /** Not everyone configures kube-scheduler, and those who do may want a node port. */
  private static boolean isForScheduler(HasMetadata object) {
    return object instanceof Service
        && object.getMetadata().getName().equals(NAMES.schedulerService());
  }

  private static HasMetadata withEarlierName(HasMetadata object) {
    if (object instanceof DaemonSet daemonSet
        && daemonSet.getMetadata().getName().equals(NAMES.nodeDaemonSet())) {
      return daemonSet.edit().editMetadata().withName("pmem-csi-node").endMetadata().build();
    }
    return object;
  }

  private static GeneratedFile scheduler(String version) {
    return new GeneratedFile(
        "scheduler/%s.yaml".formatted(version),
        GeneratedFile.HEADER
            + SCHEDULER.formatted(
                version,
                NAMES.schedulerService(),
                OperatorFiles.NAMESPACE,
                NAMES.controllerSecret(),
                NAMES.driver().schedulerResource()));
  }

  private static List<GeneratedFile> schedulerService() {
    return List.of(
        GeneratedFile.of(
            "kustomize/scheduler/scheduler-service.yaml",
            forAnyMode("Never").filter(DriverFiles::isForScheduler).toList()),
        kustomization("kustomize/scheduler/", "scheduler-service.yaml", ""));
  }

  /** Called through the service for kube-scheduler, which a certificate covers anyway. */
  private static List<GeneratedFile> webhook() {
    List<MutatingWebhookConfiguration> configurations =
        forAnyMode("Try")
            .filter(MutatingWebhookConfiguration.class::isInstance)
            .map(MutatingWebhookConfiguration.class::cast)
            .toList();
    for (var configuration : configurations) {
      var client = configuration.getWebhooks().getFirst().getClientConfig();
      // no base64: the server refuses the file as long as it has no CA
      client.setCaBundle("REPLACE_WITH_CA");
      client.getService().setName(NAMES.schedulerService());
    }
    return List.of(
        GeneratedFile.of("kustomize/webhook/webhook.yaml", configurations),
        kustomization("kustomize/webhook/", "webhook.yaml", ""));
  }

  private static Stream<HasMetadata> forAnyMode(String mutatePods) {
    return rendered(KubernetesVersion.NEWEST_KNOWN, "lvm", "any", 3, mutatePods)
        .map(DriverFiles::withoutFlavor);
  }

  private static HasMetadata withoutFlavor(HasMetadata object) {
    object.getMetadata().getLabels().remove("pmem-csi.intel.com/deployment");
    return object;
  }

  private static GeneratedFile kustomization(String directory, String resource, String more) {
    return new GeneratedFile(
        directory + "kustomization.yaml",
        GeneratedFile.HEADER + KUSTOMIZATION.formatted(resource) + more);
  }
}
