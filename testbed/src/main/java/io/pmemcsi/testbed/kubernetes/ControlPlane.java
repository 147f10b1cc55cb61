package io.pmemcsi.testbed.kubernetes;

import io.pmemcsi.testbed.process.ChildProcess;
import io.pmemcsi.testbed.process.RunDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers of one Kubernetes cluster, on loopback and in a temporary directory; gone, with all
 * that they stored, when closed or when the JVM ends.
 *
 * <p>Most tests use {@link WithKubernetes} instead, which shares one of these.
 */
public final class ControlPlane implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ControlPlane.class);

  /** Generous, since test machines can be busy; a healthy start is far quicker. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final int ATTEMPTS = 3;

  /**
   * Processors are few and memory is not: garbage is collected rarely, up to a limit that newer
   * servers know, and no thread of a server looks for work.
   */
  private static final Map<String, String> GO_SETTINGS =
      Map.of("GOGC", "1600", "GOMEMLIMIT", "1GiB", "GOMAXPROCS", "1");

  private final Binaries binaries;
  private final Map<String, List<String>> extraFlags;
  private final KubernetesVersion version;
  private final Network network;
  private final RunDirectory directory;
  private final Credentials credentials;
  private final ServerFlags flags;
  private final HealthProbe probe;
  private final Deque<ChildProcess> processes = new ArrayDeque<>();
  private final Thread atExit = new Thread(this::stop, "control-plane-stop");
  private String server = "";
  private Optional<ApiServer> api = Optional.empty();
  private boolean controllers;

  private record ApiServer(ChildProcess process, List<String> flags) {}

  private ControlPlane(Binaries binaries, Network network, Map<String, List<String>> extraFlags) {
    this.binaries = binaries;
    this.network = network;
    this.extraFlags = extraFlags;
    this.version = binaries.version();
    this.directory = RunDirectory.create("pmem-csi-kubernetes");
    this.credentials = Credentials.create(directory.path(), network);
    this.flags = new ServerFlags(version, credentials, network);
    this.probe = new HealthProbe(credentials.authority().authority());
  }

  /** Starts etcd and the API server and returns when they are ready. */
  public static ControlPlane start(Binaries binaries) {
    return start(binaries, Map.of());
  }

  /**
   * The same with further flags.
   *
   * @param extraFlags by program, for example {@code kube-apiserver}
   */
  public static ControlPlane start(Binaries binaries, Map<String, List<String>> extraFlags) {
    return start(binaries, Network.LOOPBACK, extraFlags);
  }

  /** The same in another network than this machine's loopback. */
  public static ControlPlane start(
      Binaries binaries, Network network, Map<String, List<String>> extraFlags) {
    ControlPlane plane = new ControlPlane(binaries, network, extraFlags);
    try {
      Runtime.getRuntime().addShutdownHook(plane.atExit);
      plane.startStoreAndApi();
      return plane;
    } catch (RuntimeException e) {
      plane.close();
      throw e;
    }
  }

  /**
   * Starts the controllers and the scheduler, if they do not run yet, and returns when they are
   * ready.
   *
   * @throws Binaries.MissingProgramException where the directory of binaries does not have them
   */
  public synchronized void startControllers() {
    if (controllers) {
      return;
    }
    binaries.get("kube-controller-manager");
    binaries.get("kube-scheduler");
    retryOnTakenPort(this::startControllerManager);
    retryOnTakenPort(this::startScheduler);
    controllers = true;
  }

  /**
   * Starts one more scheduler, for tests with their own configuration.
   *
   * @param name under which its log is kept
   * @param configuration a KubeSchedulerConfiguration; {@code @KUBECONFIG@} in it is replaced by
   *     the path of a suitable file
   * @return the process, to be closed by the caller or left to the end of the control plane
   */
  public synchronized ChildProcess startScheduler(String name, String configuration) {
    Path file = directory.resolve(name + ".yaml");
    try {
      Files.writeString(
          file,
          configuration.replace(
              "@KUBECONFIG@", credentials.kubeconfig(Credentials.Client.SCHEDULER).toString()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
    return retryOnTakenPort(
        () -> {
          int port = nextPort();
          return awaitHealthy(launch("kube-scheduler", name, flags.scheduler(port, file)), port);
        });
  }

  /** The file with which {@code kubectl} and our own program become administrator. */
  public Path kubeconfig() {
    return credentials.kubeconfig(Credentials.Client.ADMIN);
  }

  /** The file with which the kubelet of {@link Network#NODE} talks to the API server. */
  public Path kubeletKubeconfig() {
    return credentials.kubeconfig(Credentials.Client.KUBELET);
  }

  /** The file with which kube-proxy talks to the API server. */
  public Path kubeProxyKubeconfig() {
    return credentials.kubeconfig(Credentials.Client.KUBE_PROXY);
  }

  /** The file with the authority that clients of kubelets show. */
  public Path authorityFile() {
    return credentials.authorityFile();
  }

  /** The address of the API server. */
  public String server() {
    return server;
  }

  public KubernetesVersion version() {
    return version;
  }

  public Network network() {
    return network;
  }

  public Binaries binaries() {
    return binaries;
  }

  /** A place for files that go away with the control plane. */
  public Path directory() {
    return directory.path();
  }

  /** The authority that signed the API server's certificate. */
  public Certificates authority() {
    return credentials.authority();
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException _) {
      // the JVM ends already
    }
    stop();
  }

  private synchronized void stop() {
    while (!processes.isEmpty()) {
      processes.pop().close();
    }
    probe.close();
    directory.close();
  }

  private void startStoreAndApi() {
    long begin = System.nanoTime();
    String store = retryOnTakenPort(this::startEtcd);
    server = retryOnTakenPort(() -> startApiServer(store));
    credentials.writeKubeconfigs(server);
    LOG.atInfo()
        .addKeyValue("version", version)
        .addKeyValue("server", server)
        .addKeyValue("milliseconds", Duration.ofNanos(System.nanoTime() - begin).toMillis())
        .log("Kubernetes API is ready");
  }

  private String startEtcd() {
    String client = "http://127.0.0.1:" + nextPort();
    String peer = "http://127.0.0.1:" + FreePorts.next();
    ChildProcess etcd = launch("etcd", flags.etcd(directory.resolve("etcd"), client, peer));
    etcd.awaitReady(LIMIT, () -> probe.isOk(client + "/health"));
    return client;
  }

  private String startApiServer(String store) {
    int port = nextPort();
    String address = "https://127.0.0.1:" + port;
    List<String> arguments = flags.apiServer(store, port);
    ChildProcess process = launch("kube-apiserver", arguments);
    process.awaitReady(LIMIT, () -> probe.isOk(address + "/readyz"));
    api = Optional.of(new ApiServer(process, arguments));
    return address;
  }

  /** Nothing answers until {@link #restartApiServer}. */
  public synchronized void stopApiServer() {
    ChildProcess process = api.orElseThrow().process();
    processes.remove(process);
    process.close();
  }

  /** Returns when it is ready, with the data and the address that it had. */
  public synchronized void restartApiServer() {
    List<String> arguments = api.orElseThrow().flags();
    ChildProcess process = launch("kube-apiserver", arguments);
    process.awaitReady(LIMIT, () -> probe.isOk(server + "/readyz"));
    api = Optional.of(new ApiServer(process, arguments));
  }

  private ChildProcess startControllerManager() {
    int port = nextPort();
    return awaitHealthy(launch("kube-controller-manager", flags.controllerManager(port)), port);
  }

  private ChildProcess startScheduler() {
    int port = nextPort();
    return awaitHealthy(launch("kube-scheduler", flags.scheduler(port)), port);
  }

  private int nextPort() {
    int port = FreePorts.next();
    network.publish(port);
    return port;
  }

  private ChildProcess awaitHealthy(ChildProcess process, int port) {
    process.awaitReady(LIMIT, () -> probe.isOk("https://127.0.0.1:" + port + "/healthz"));
    return process;
  }

  private ChildProcess launch(String program, List<String> arguments) {
    return launch(program, program, arguments);
  }

  private ChildProcess launch(String program, String name, List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(binaries.get(program).toString()));
    command.addAll(arguments);
    command.addAll(extraFlags.getOrDefault(program, List.of()));
    ChildProcess process =
        ChildProcess.start(
            name, directory.resolve(name + ".log"), network.prefix(), command, GO_SETTINGS);
    processes.push(process);
    return process;
  }

  /** Another process may take a port between finding it and listening on it. */
  private <T> T retryOnTakenPort(Supplier<T> start) {
    for (int attempt = 1; ; attempt++) {
      try {
        return start.get();
      } catch (IllegalStateException e) {
        String message = String.valueOf(e.getMessage());
        if (attempt == ATTEMPTS || !message.contains("address already in use")) {
          throw e;
        }
        processes.pop().close();
      }
    }
  }
}
