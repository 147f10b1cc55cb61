package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.testbed.process.ChildProcess;
import io.pmemcsi.testbed.process.RunDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Nodes with a real kubelet whose container runtime is a fake one: pods get bound to them, "run"
 * whatever their image is, have their HTTP and TCP probes answered, and become ready. Each takes
 * about 70 MiB; for many nodes see {@link FakeNodes}.
 *
 * {@snippet :
 * @BeforeAll
 * static void startNodes(Sandbox sandbox) {
 *   sandbox.cleanUp(HollowNodes.start(sandbox.cluster(), 2, Map.of("storage", "pmem"))::close);
 * }
 * }
 *
 * All tests of the JVM see the nodes: give them labels and let pods select by these.
 */
public final class HollowNodes implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int FIRST_PORT = 11_000;
  private static final int FIRST_READ_ONLY_PORT = 12_000;

  private final KubernetesClient client;
  private final RunDirectory directory;
  private final NodeSandbox sandbox;
  private final Map<String, ChildProcess> kubelets = new LinkedHashMap<>();
  private final ProbeAnswers answers;
  private @Nullable FakeRegistrations registrations;
  private final Thread atExit = new Thread(this::stop, "hollow-nodes-stop");

  private HollowNodes(Cluster cluster, Path kubemark, List<String> names) {
    this.client = cluster.admin();
    this.directory = RunDirectory.create("pmem-csi-nodes");
    this.sandbox =
        NodeSandbox.create(
            directory.path(), kubemark, URI.create(client.getConfiguration().getMasterUrl()));
    this.answers = ProbeAnswers.start(sandbox, names::contains, client);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Starts nodes and returns when they are ready. */
  public static HollowNodes start(Cluster cluster, int count, Map<String, String> labels) {
    return start(cluster, Binaries.find(), count, labels);
  }

  static HollowNodes start(
      Cluster cluster, Binaries binaries, int count, Map<String, String> labels) {
    Path kubemark = real(binaries.orSkip("kubemark", "hollow nodes need it"));
    cluster.startControllers();
    String group = "hollow-%04x".formatted(ThreadLocalRandom.current().nextInt(0x10000));
    List<String> names = IntStream.rangeClosed(1, count).mapToObj(i -> group + "-" + i).toList();
    HollowNodes nodes = new HollowNodes(cluster, kubemark, names);
    try {
      nodes.launch(cluster, kubemark, names, labels);
      return nodes;
    } catch (RuntimeException e) {
      nodes.close();
      throw e;
    }
  }

  /** From now on CSI drivers whose pods are ready get registered: no driver runs behind them. */
  public HollowNodes registerDrivers() {
    if (registrations == null) {
      registrations = FakeRegistrations.start(client, kubelets::containsKey);
    }
    return this;
  }

  /** The names of those that run. */
  public List<String> names() {
    return List.copyOf(kubelets.keySet());
  }

  /** Ends the kubelets as if their machines had lost power: the API server is not notified. */
  public void losePower() {
    kubelets.values().forEach(ChildProcess::close);
  }

  /** Ends the kubelets and deletes the nodes. */
  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    List<String> names = names();
    stop();
    names.forEach(name -> client.nodes().withName(name).delete());
  }

  private synchronized void stop() {
    if (registrations != null) {
      registrations.close();
    }
    answers.close();
    kubelets.values().forEach(ChildProcess::close);
    kubelets.clear();
    sandbox.close();
    directory.close();
  }

  /** Of links and directories around it nothing is seen inside. */
  private static Path real(Path program) {
    try {
      return program.toRealPath();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot find out where %s is".formatted(program), e);
    }
  }

  private void launch(
      Cluster cluster, Path kubemark, List<String> names, Map<String, String> labels) {
    // inside, only this directory is seen
    Path kubeconfig = directory.resolve("kubeconfig");
    Kubeconfig.copy(cluster.kubeconfig(), kubeconfig);
    for (int i = 0; i < names.size(); i++) {
      List<String> command =
          new ArrayList<>(
              List.of(
                  kubemark.toString(),
                  "--morph=kubelet",
                  "--name=" + names.get(i),
                  "--kubeconfig=" + kubeconfig,
                  "--kubelet-port=" + (FIRST_PORT + i),
                  "--kubelet-read-only-port=" + (FIRST_READ_ONLY_PORT + i)));
      flags(cluster.version(), labels).forEach(command::add);
      kubelets.put(names.get(i), sandbox.launchApart(names.get(i), command));
    }
    kubelets.forEach((name, kubelet) -> kubelet.awaitReady(LIMIT, () -> isReady(name)));
  }

  private static Stream<String> flags(KubernetesVersion version, Map<String, String> labels) {
    String list =
        labels.entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .collect(Collectors.joining(","));
    Stream<String> labelled = labels.isEmpty() ? Stream.of() : Stream.of("--node-labels=" + list);
    // newer ones would ask a real runtime for images
    Stream<String> images =
        version.isAtLeast(1, 27) ? Stream.of("--use-host-image-service=false") : Stream.of();
    return Stream.concat(labelled, images);
  }

  private boolean isReady(String name) {
    Node node = client.nodes().withName(name).get();
    return node != null && Readiness.getInstance().isReady(node);
  }
}
