package io.pmemcsi.testbed.kubernetes;

import io.pmemcsi.testbed.process.ChildProcess;
import io.pmemcsi.testbed.process.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers of one Kubernetes cluster, on loopback and in a temporary folder; gone, with all that
 * they stored, when closed or when the JVM ends.
 *
 * <p>Most tests use {@link WithKubernetes} instead, which shares one of these.
 */
public final class ControlPlane implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ControlPlane.class);

  /** Generous, since test machines can be busy; nobody waits that long when all is well. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final int ATTEMPTS = 3;

  /**
   * Who talks to the API server. They show tokens, since not every client library reads every kind
   * of key.
   */
  private enum Client {
    ADMIN("admin", "system:masters"),
    CONTROLLER_MANAGER("system:kube-controller-manager", ""),
    SCHEDULER("system:kube-scheduler", "");

    private final String user;
    private final String group;
    private final String token = UUID.randomUUID().toString();

    Client(String user, String group) {
      this.user = user;
      this.group = group;
    }

    /** As kube-apiserver wants it: token, user, user's id, groups. */
    String line() {
      return String.join(",", token, user, user, group);
    }

    String file() {
      return name().toLowerCase(Locale.ROOT) + ".kubeconfig";
    }
  }

  private final Binaries binaries;
  private final KubernetesVersion version;
  private final RunFolder folder;
  private final Certificates authority;
  private final HealthProbe probe;
  private final Deque<ChildProcess> processes = new ArrayDeque<>();
  private final Thread atExit = new Thread(this::stop, "control-plane-stop");
  private String server = "";
  private boolean controllers;

  private ControlPlane(Binaries binaries) {
    this.binaries = binaries;
    this.version = binaries.version();
    this.folder = RunFolder.create("pmem-csi-kubernetes");
    this.authority = new Certificates("testbed");
    this.probe = new HealthProbe(authority.authority());
  }

  /** Starts etcd and the API server and returns when they are ready. */
  public static ControlPlane start(Binaries binaries) {
    ControlPlane plane = new ControlPlane(binaries);
    try {
      Runtime.getRuntime().addShutdownHook(plane.atExit);
      plane.writeCredentials();
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
   * @throws Binaries.MissingProgramException where the folder of binaries does not have them
   */
  public synchronized void startControllers() {
    if (controllers) {
      return;
    }
    binaries.get("kube-controller-manager");
    binaries.get("kube-scheduler");
    retryOnTakenPort(this::startControllerManager);
    retryOnTakenPort(() -> startScheduler("kube-scheduler", List.of("--leader-elect=false")));
    controllers = true;
  }

  /**
   * Starts one more scheduler, for tests that bring their own configuration.
   *
   * @param name under which its log is kept
   * @param configuration a KubeSchedulerConfiguration; {@code @KUBECONFIG@} in it is replaced by
   *     the path of a suitable file
   * @return the process, to be closed by the caller or left to the end of the control plane
   */
  public synchronized ChildProcess startScheduler(String name, String configuration) {
    Path file = folder.resolve(name + ".yaml");
    try {
      Files.writeString(
          file,
          configuration.replace(
              "@KUBECONFIG@", folder.resolve(Client.SCHEDULER.file()).toString()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
    return startScheduler(name, List.of("--config=" + file));
  }

  /** The file with which {@code kubectl} and our own program become administrator. */
  public Path kubeconfig() {
    return folder.resolve(Client.ADMIN.file());
  }

  /** The address of the API server. */
  public String server() {
    return server;
  }

  public KubernetesVersion version() {
    return version;
  }

  public Binaries binaries() {
    return binaries;
  }

  /** A place for files that go away with the control plane. */
  public Path folder() {
    return folder.path();
  }

  /** The authority that signed the API server's certificate. */
  public Certificates authority() {
    return authority;
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    stop();
  }

  private synchronized void stop() {
    while (!processes.isEmpty()) {
      processes.pop().close();
    }
    probe.close();
    folder.close();
  }

  private void writeCredentials() {
    try {
      Files.writeString(folder.resolve("ca.crt"), authority.authorityPem());
      Files.writeString(folder.resolve("ca.key"), authority.authorityKeyPem());
      Certificates.Issued accounts = authority.issue("CN=service-accounts");
      Files.writeString(folder.resolve("accounts.key"), accounts.keyPem());
      Files.writeString(folder.resolve("accounts.pub"), accounts.publicKeyPem());
      Files.write(
          folder.resolve("tokens.csv"), Stream.of(Client.values()).map(Client::line).toList());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write certificates and tokens", e);
    }
    authority.issue("CN=kube-apiserver").write(folder.path(), "server");
  }

  private void startStoreAndApi() {
    long begin = System.nanoTime();
    String store = retryOnTakenPort(this::startEtcd);
    retryOnTakenPort(() -> startApiServer(store));
    for (Client client : Client.values()) {
      Kubeconfig.write(
          folder.resolve(client.file()), server, authority.authorityPem(), client.token);
    }
    log.atInfo()
        .addKeyValue("version", version)
        .addKeyValue("server", server)
        .addKeyValue("milliseconds", Duration.ofNanos(System.nanoTime() - begin).toMillis())
        .log("Kubernetes API is ready");
  }

  private String startEtcd() {
    String client = "http://127.0.0.1:" + FreePorts.next();
    String peer = "http://127.0.0.1:" + FreePorts.next();
    ChildProcess etcd =
        launch(
            "etcd",
            List.of(
                "--data-dir=" + folder.resolve("etcd"),
                "--unsafe-no-fsync",
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=default=" + peer,
                "--logger=zap",
                "--log-level=warn"));
    etcd.awaitReady(LIMIT, () -> probe.isOk(client + "/health"));
    return client;
  }

  private String startApiServer(String store) {
    int port = FreePorts.next();
    ChildProcess api =
        launch(
            "kube-apiserver",
            List.of(
                "--etcd-servers=" + store,
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--secure-port=" + port,
                // the address of an endpoint may not be a loopback one
                "--endpoint-reconciler-type=none",
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins="
                    + "NodeRestriction,MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
                "--allow-privileged=true",
                "--client-ca-file=" + folder.resolve("ca.crt"),
                "--token-auth-file=" + folder.resolve("tokens.csv"),
                "--tls-cert-file=" + folder.resolve("server.crt"),
                "--tls-private-key-file=" + folder.resolve("server.key"),
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=" + folder.resolve("accounts.pub"),
                "--service-account-signing-key-file=" + folder.resolve("accounts.key"),
                "--service-cluster-ip-range=10.96.0.0/16"));
    server = "https://127.0.0.1:" + port;
    api.awaitReady(LIMIT, () -> probe.isOk(server + "/readyz"));
    return server;
  }

  private ChildProcess startControllerManager() {
    int port = FreePorts.next();
    List<String> flags = new ArrayList<>(loopback(port));
    flags.addAll(
        List.of(
            "--kubeconfig=" + folder.resolve(Client.CONTROLLER_MANAGER.file()),
            "--leader-elect=false",
            "--controllers=*",
            "--use-service-account-credentials=true",
            "--service-account-private-key-file=" + folder.resolve("accounts.key"),
            "--root-ca-file=" + folder.resolve("ca.crt"),
            "--cluster-signing-cert-file=" + folder.resolve("ca.crt"),
            "--cluster-signing-key-file=" + folder.resolve("ca.key")));
    ChildProcess manager = launch("kube-controller-manager", flags);
    manager.awaitReady(LIMIT, () -> probe.isOk("https://127.0.0.1:" + port + "/healthz"));
    return manager;
  }

  private ChildProcess startScheduler(String name, List<String> extra) {
    int port = FreePorts.next();
    List<String> flags = new ArrayList<>(loopback(port));
    flags.add("--kubeconfig=" + folder.resolve(Client.SCHEDULER.file()));
    flags.addAll(extra);
    ChildProcess scheduler = launch("kube-scheduler", name, flags);
    scheduler.awaitReady(LIMIT, () -> probe.isOk("https://127.0.0.1:" + port + "/healthz"));
    return scheduler;
  }

  private List<String> loopback(int port) {
    Stream<String> flags =
        Stream.of(
            "--bind-address=127.0.0.1",
            "--secure-port=" + port,
            "--tls-cert-file=" + folder.resolve("server.crt"),
            "--tls-private-key-file=" + folder.resolve("server.key"));
    // older ones also listen without TLS on all addresses unless told not to; newer ones know no
    // such flag
    Stream<String> insecure = version.isAtLeast(1, 24) ? Stream.of() : Stream.of("--port=0");
    return Stream.concat(flags, insecure).toList();
  }

  private ChildProcess launch(String program, List<String> flags) {
    return launch(program, program, flags);
  }

  private ChildProcess launch(String program, String name, List<String> flags) {
    List<String> command = new ArrayList<>(List.of(binaries.get(program).toString()));
    command.addAll(flags);
    ChildProcess process = ChildProcess.start(name, folder.resolve(name + ".log"), command);
    processes.push(process);
    return process;
  }

  /** Between finding a port and listening on it, somebody else may have been quicker. */
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
