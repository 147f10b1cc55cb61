package io.pmemcsi.testbed.node;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
import io.pmemcsi.testbed.kubernetes.Network;
import io.pmemcsi.testbed.process.ChildProcess;
import io.pmemcsi.testbed.process.RunDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Kubernetes cluster with one node that really runs pods. Everything is in namespaces of its own;
 * when this closes or the JVM ends nothing is left of it.
 */
public final class RealNode implements AutoCloseable {

  static final String KIND = "pmem-csi-node";

  private static final Logger LOG = LoggerFactory.getLogger(RealNode.class);
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final RunDirectory directory;
  private final NodePrograms programs;
  private final NodeNamespaces namespaces;
  private final Cgroups cgroups;
  private final ControlPlane plane;
  private final Cluster cluster;
  private final NodeConfiguration configuration;
  private final Deque<AutoCloseable> resources = new ArrayDeque<>();
  private ChildProcess kubelet;

  private RealNode(Binaries binaries) {
    this.programs = NodePrograms.find();
    this.directory = RunDirectory.create(KIND);
    resources.push(directory);
    resources.push(() -> LoopDevices.detachBelow(state()));
    this.cgroups = Cgroups.create(directory.path());
    resources.push(cgroups);
    this.namespaces = NodeNamespaces.create(directory.path());
    resources.push(namespaces);
    this.plane = ControlPlane.start(binaries, namespaces, alphaFeatures(binaries));
    this.cluster = Cluster.of(plane);
    resources.push(cluster);
    this.configuration = new NodeConfiguration(directory.path(), programs, cgroups);
    plane.startControllers();
    ChildProcess containerd = startProgram("containerd", configuration.containerd());
    containerd.awaitReady(LIMIT, this::containerdAnswers);
    importImages(NodeImages.busybox(programs, directory.path()));
    this.kubelet = startKubelet();
    startProgram("kube-proxy", configuration.kubeProxy(plane));
    awaitReady();
  }

  /** The tests of volumes use what servers before 1.21 call alpha. */
  private static Map<String, List<String>> alphaFeatures(Binaries binaries) {
    if (binaries.version().isAtLeast(1, 21)) {
      return Map.of();
    }
    String gates = "--feature-gates=" + NodeConfiguration.ALPHA_FEATURES;
    return Map.of(
        "kube-apiserver",
        List.of(gates, "--runtime-config=storage.k8s.io/v1alpha1=true"),
        "kube-controller-manager",
        List.of(gates),
        "kube-scheduler",
        List.of(gates));
  }

  /** Starts control plane and node, and returns when the node is ready. */
  static RealNode start() {
    Binaries binaries = Binaries.find();
    binaries.orSkip("kubelet", "a real node needs it");
    binaries.orSkip("kube-proxy", "a real node needs it");
    long begin = System.nanoTime();
    RealNode node = new RealNode(binaries);
    LOG.atInfo()
        .addKeyValue("directory", node.directory.path())
        .addKeyValue("seconds", Duration.ofNanos(System.nanoTime() - begin).toSeconds())
        .log("Node is ready");
    return node;
  }

  /** The cluster of which this is the only node. */
  public Cluster cluster() {
    return cluster;
  }

  /** A client that may do everything. It belongs to the cluster: do not close it. */
  public KubernetesClient client() {
    return cluster.admin();
  }

  public String name() {
    return Network.NODE;
  }

  /** The image of a static busybox with a shell, for pods of tests. */
  public String busybox() {
    return NodeImages.BUSYBOX;
  }

  /** Where the node keeps what its programs log; deleted at the end. */
  public Path directory() {
    return directory.path();
  }

  /** Imports the images of an archive in the format of {@code docker save}. */
  public void importImages(Path archive) {
    ctr("images", "import", archive.toAbsolutePath().toString());
  }

  /** Gives an image of the node one more name. */
  public void tagImage(String image, String name) {
    ctr("images", "tag", "--force", image, name);
  }

  /** Imports an archive, and its first image with one more layer under another name. */
  public void importDerivedImages(Path archive, List<DerivedImage> images) {
    try (RunDirectory work = RunDirectory.create("pmem-csi-image")) {
      Path content = work.resolve("content");
      if (!content.toFile().mkdir()) {
        throw new IllegalStateException("cannot make " + content);
      }
      ImageArchive all = ImageArchive.open(archive, content);
      images.forEach(image -> all.derive(image.name(), image.files(), image.entrypoint()));
      importImages(all.write(work.resolve("images.tar")));
    }
  }

  /** The first image of an archive with one more layer. */
  public record DerivedImage(String name, Path files, List<String> entrypoint) {}

  /** Runs a command in the namespaces of the node and returns what it prints. */
  public String run(String... command) {
    return namespaces.run(List.of(command));
  }

  /** The mounts of the node, as {@code /proc/PID/mountinfo} has them. */
  public List<String> mounts() {
    return namespaces.mounts();
  }

  /** The loop devices whose backing file is on the node, with that file. */
  public Map<String, Path> loopDevices() {
    return LoopDevices.below(state());
  }

  /** What the node has below its {@code /var/lib}. */
  public Path state() {
    return directory.resolve("fs/var/lib");
  }

  /** Ends kubelet and starts it again; pods go on running. Returns when the node is ready. */
  public void restartKubelet() {
    namespaces.stop(kubelet);
    kubelet = startKubelet();
    awaitReady();
  }

  /**
   * Does to pods what a reboot of the node does: all containers end at once, mounts and loop
   * devices are lost, kubelet starts again. Returns when the node is ready.
   */
  public void reboot() {
    namespaces.stop(kubelet);
    for (String task : ctr("tasks", "list", "--quiet").lines().toList()) {
      runLeniently(ctrCommand("tasks", "kill", "--signal=SIGKILL", task));
    }
    for (String mount : mounts().reversed()) {
      String path = mount.split(" ", -1)[4];
      if (path.contains("/kubelet/pods/") || path.contains("/kubelet/plugins/")) {
        runLeniently(List.of("umount", "--lazy", path));
      }
    }
    LoopDevices.detachBelow(state());
    kubelet = startKubelet();
    awaitReady();
  }

  /** A task may end with another one of its pod, and a mount with another one of its peer group. */
  private void runLeniently(List<String> command) {
    List<String> lenient = new ArrayList<>(List.of("sh", "-c", "\"$@\" || true", "sh"));
    lenient.addAll(command);
    namespaces.run(lenient);
  }

  @Override
  public synchronized void close() {
    RuntimeException failed = new IllegalStateException("clean-up of the node failed");
    while (!resources.isEmpty()) {
      try {
        resources.pop().close();
      } catch (Exception e) {
        failed.addSuppressed(e);
      }
    }
    if (failed.getSuppressed().length > 0) {
      throw failed;
    }
  }

  private ChildProcess startKubelet() {
    return startProgram("kubelet", configuration.kubelet(plane));
  }

  /** With an empty environment: kubelet would look for the credentials of clouds. */
  private ChildProcess startProgram(String name, List<String> command) {
    return namespaces.start(
        name,
        command,
        Map.of("PATH", programs.bin() + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME", "/root"));
  }

  private void awaitReady() {
    kubelet.awaitReady(LIMIT, this::isReady);
  }

  private boolean isReady() {
    Node node = client().nodes().withName(Network.NODE).get();
    return node != null && Readiness.getInstance().isReady(node);
  }

  private boolean containerdAnswers() {
    try {
      ctr("version");
      return true;
    } catch (IllegalStateException _) {
      return false;
    }
  }

  private String ctr(String... arguments) {
    return namespaces.run(ctrCommand(arguments));
  }

  private List<String> ctrCommand(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                programs.bin().resolve("ctr").toString(),
                "--address=" + NodeConfiguration.CONTAINERD,
                "--namespace=k8s.io"));
    command.addAll(List.of(arguments));
    return command;
  }
}
