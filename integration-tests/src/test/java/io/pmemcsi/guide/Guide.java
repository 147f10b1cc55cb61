package io.pmemcsi.guide;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the tests know about the pages. */
final class Guide {

  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /**
   * The pages whose commands are run on a node, in this order: the first one installs the driver
   * and removes it, the second one installs it again, the last one removes it. All others have
   * commands of {@link #ELSEWHERE} only.
   */
  static final List<String> ON_A_NODE =
      List.of(
          "README.md",
          "docs/install.md",
          "docs/volumes.md",
          "docs/snapshots.md",
          "docs/status.md",
          "docs/configure.md",
          "docs/operator.md",
          "docs/scheduling.md",
          "docs/driver-authors.md",
          "docs/template-drivers.md",
          "docs/migration.md",
          "docs/troubleshooting.md",
          "docs/prerequisites.md",
          "docs/maintenance.md");

  /** Code blocks of these languages are examples of output, pictures, or checked elsewhere. */
  static final List<String> NOT_RUN = List.of("text", "java", "promql");

  /** What a reader puts in place of a word in capital letters. */
  static final Map<String, String> PLACEHOLDERS =
      Map.of(
          "NODE", "$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')",
          "POD",
              "$(kubectl rollout status -n pmem-csi daemonset/pmem-csi-intel-com-node > /dev/null"
                  + " && kubectl get pods -n pmem-csi -l app.kubernetes.io/name=pmem-csi-node"
                  + " --sort-by=.metadata.creationTimestamp"
                  + " -o jsonpath='{.items[-1:].metadata.name}')",
          "DRIVER", "pmem-csi.intel.com",
          "MODE", "file",
          "NAMESPACE", "hostpath",
          "NAME", "hostpath");

  /** What marks YAML that is not for the API server: tests of their own use it. */
  static final List<String> KINDS_OF_OTHERS =
      List.of(
          "kind: KubeSchedulerConfiguration",
          "kind: ClusterConfiguration",
          "kustomization.yaml",
          // the operator would start a snapshotter that is not here: GuideTest
          "\nkind: VolumeSnapshot");

  /** Messages in the page about problems that Kubernetes, kubectl and QEMU print. */
  static final List<String> WORDS_OF_OTHERS =
      List.of(
          "no matches for kind",
          "waiting for first consumer",
          "waiting for a volume",
          "by external provisioner",
          "storageclass.storage.k8s.io",
          "only dynamically provisioned",
          "volume node affinity conflict",
          "did not have enough free storage",
          "in the list of registered CSI drivers",
          "failed calling webhook",
          "total space for memory devices",
          "not enough space, currently",
          "RuntimeClass",
          "Operation not permitted",
          "Insufficient pmem-csi.intel.com",
          "ValidatingAdmissionPolicy '",
          "63484MiB");

  /** What a reader without persistent memory applies instead, as the pages say. */
  static final Map<String, String> REPLACED =
      Map.of("deploy/samples/pmem-csi.yaml", "deploy/samples/pmem-csi-trial.yaml");

  /** What is edited in a file before it is used: the node has no persistent memory, and no Kata. */
  static final Map<String, Edit> EDITS =
      Map.of(
          "deploy/samples/v1alpha1/pmem-csi.yaml",
          new Edit("deviceMode: lvm", "deviceMode: file"),
          "deploy/common/pmem-app-block-volume.yaml",
          new Edit("mount -o dax ", "mount "),
          "deploy/common/pmem-kata-app.yaml",
          new Edit("runtimeClassName: kata-qemu", "runtimeClassName: null"),
          "deploy/common/pmem-kata-app-ephemeral.yaml",
          new Edit("runtimeClassName: kata-qemu", "runtimeClassName: null"));

  /** What commands must print: the driver is healthy, and its inline volume is counted. */
  static final Map<String, Pattern> OUTPUTS =
      Map.of(
          "kubectl pmem-csi status",
          Pattern.compile(
              "^pmem-csi\\.intel\\.com: Running [^!]*[1-9]\\S* \\wiB used[^!]*"
                  + "default/my-csi-app-inline-volume:\\S+ +\\S+ \\wiB +Inline ",
              Pattern.DOTALL),
          "kubectl pmem-csi status DRIVER -o json",
          Pattern.compile("^\\[ \\{\\R +\"driver\" : \"pmem-csi\\.intel\\.com\""));

  record Edit(String from, String to) {}

  /** Commands that are not run on the node, by how they begin. */
  private static final Map<String, String> ELSEWHERE = elsewhere();

  private Guide() {}

  private static Map<String, String> elsewhere() {
    Map<String, String> reasons = new LinkedHashMap<>();
    reasons.put("make demo", "DemoIT runs the demo");
    reasons.put("make ", "the build, of which this test is a part");
    reasons.put("PMEM_CSI_IMAGE_CACHE=", "the build, of which this test is a part");
    reasons.put("mvn ", "the build, of which this test is a part");
    reasons.put("KUBEBUILDER_ASSETS=", "the build, of which this test is a part");
    reasons.put("build/cluster", "a cluster for work by hand; the tests start their own");
    reasons.put("eval $(build/cluster", "a cluster for work by hand; the tests start their own");
    reasons.put(
        "docker build -f deploy/bundle/",
        "no docker runs here; BundleIT checks the files of the bundle, which are all of its image");
    reasons.put(
        "docker ", "there is no image registry; the test imports the archive into the node");
    String otherCluster = "another cluster; the test imports the archive into the node";
    List.of("ctr ", "k3s ", "kind ", "minikube ").forEach(tool -> reasons.put(tool, otherCluster));
    reasons.put("bin/csi-operator ", "RunningIT: not beside another operator");
    reasons.put(
        "kubectl delete pmemcsideployment", "ChartIT: of the chart, which is not installed");
    reasons.put("kubectl apply -f deploy/prerequisites", "InstallIT: not beside another operator");
    reasons.put("kubectl apply -f deploy/operator.yaml", "InstallIT: not beside another operator");
    reasons.put("kubectl apply -f deploy/kubernetes-", "InstallIT: not beside the operator");
    reasons.put("kubectl apply --kustomize", "KustomizeIT: the test bed's kubectl is too old");
    reasons.put("kubectl apply -f deploy/snapshots/", "the snapshot API is not installed here");
    reasons.put("kubectl get volumesnapshot", "the snapshot API is not installed here");
    reasons.put("velero ", "Velero is not installed here");
    reasons.put("kubectl delete pod NAME-controller-0", "needs a node that is lost");
    reasons.put("kubectl delete pvc CLAIM", "needs a volume whose node is lost");
    reasons.put("kubectl delete pv PV", "needs a volume whose node is lost");
    reasons.put("kubectl patch pv PV", "needs a volume without a node or a claim");
    reasons.put(
        "kubectl label --overwrite node NODE DRIVER/convert-raw-namespaces",
        "MemoryWithoutLabelsIT converts raw namespaces in the virtual machine");
    String takeOver = "needs PMEM-CSI 0.7; LegacyDeploymentIT takes over the objects of one";
    reasons.put("kubectl scale deployment pmem-csi-operator", takeOver);
    reasons.put("kubectl delete statefulset", takeOver);
    reasons.put("kubectl delete daemonset", takeOver);
    reasons.put("operator-sdk ", "the Operator Lifecycle Manager is not installed here");
    reasons.put("helm ", "ChartIT runs Helm's own engine on the chart");
    reasons.put("ipmctl ", "needs NVDIMMs");
    reasons.put("ndctl ", "GuideMemoryIT runs it in the virtual machine");
    reasons.put("gpg ", "needs the key of a maintainer");
    reasons.put("sha256sum ", "needs the files of a release");
    return reasons;
  }

  /** Why a command is not run on the node; nothing if it is. */
  static Optional<String> elsewhere(String command) {
    return ELSEWHERE.entrySet().stream()
        .filter(entry -> command.startsWith(entry.getKey()))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  static List<String> beginnings() {
    return List.copyOf(ELSEWHERE.keySet());
  }

  /** All pages for readers. */
  static List<Page> pages() {
    return Stream.of("", "docs", "docs/decisions", "deploy/samples", "deploy/common")
        .flatMap(directory -> list(ROOT.resolve(directory)))
        .map(file -> Page.read(ROOT, ROOT.relativize(file).toString()))
        .toList();
  }

  private static Stream<Path> list(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".md")).sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + directory, e);
    }
  }
}
