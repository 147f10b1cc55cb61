package io.pmemcsi.embedded;

import com.sun.net.httpserver.HttpServer;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.http.Front;
import io.pmemcsi.embedded.http.RequestLog;
import io.pmemcsi.embedded.http.Watches;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.server.Verb;
import io.pmemcsi.embedded.simulate.SimulatedControllers;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A Kubernetes API inside this process, on a random port of the loopback interface. It keeps
 * everything in memory and has no nodes, no scheduler and no controllers except garbage collection;
 * on demand it simulates workloads that become ready.
 */
public final class EmbeddedKubernetes implements AutoCloseable {
  private static final List<String> NAMESPACES =
      List.of("default", "kube-node-lease", "kube-public", "kube-system");

  static {
    // Read once, when the server's class is loaded; without it every answer may wait 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final HttpServer server;
  private final ExecutorService threads;
  private final Watches watches;
  private final Faults faults;
  private final RequestLog requests;
  private final Optional<SimulatedControllers> simulated;

  private EmbeddedKubernetes(Options options) throws IOException {
    Store store = new Store();
    Api api = new Api(store, options.version(), options.clock(), options.seed());
    createNamespaces(api, store);
    watches = new Watches(store, options.bookmarkEvery());
    faults = new Faults(watches::endAll, store::compact);
    requests = new RequestLog();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/", new Front(api, store, options.version(), faults, requests, watches));
    server.start();
    simulated =
        options.simulatedPodStart().map(perPod -> new SimulatedControllers(api, store, perPod));
  }

  /** Starts a server with the usual options. */
  public static EmbeddedKubernetes start() {
    return start(Options.usual());
  }

  /** Starts a server. */
  public static EmbeddedKubernetes start(Options options) {
    try {
      return new EmbeddedKubernetes(options);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot listen on the loopback interface", e);
    }
  }

  private static void createNamespaces(Api api, Store store) {
    var type = api.catalog().find(store.now().objects(), "", "v1", "namespaces").orElseThrow();
    for (String name : NAMESPACES) {
      var namespace = Json.object();
      namespace.putObject("metadata").put("name", name);
      api.write(
          new ApiRequest(
              Verb.CREATE,
              type,
              "",
              "",
              "",
              Map.of(),
              "application/json",
              Optional.of(namespace),
              "embedded"));
    }
  }

  /** Where clients connect to, such as http://127.0.0.1:41231. */
  public URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** A kubeconfig file for clients that want one. */
  public String kubeconfig() {
    return """
    apiVersion: v1
    kind: Config
    clusters:
    - name: embedded
      cluster:
        server: %s
    users:
    - name: embedded
      user: {}
    contexts:
    - name: embedded
      context:
        cluster: embedded
        user: embedded
    current-context: embedded
    """
        .formatted(url());
  }

  /** What goes wrong from now on. */
  public Faults faults() {
    return faults;
  }

  /** What was asked for so far. */
  public RequestLog requests() {
    return requests;
  }

  /** How many watches are open now. */
  public int openWatches() {
    return watches.open();
  }

  @Override
  public void close() {
    simulated.ifPresent(SimulatedControllers::close);
    watches.endAll();
    server.stop(0);
    threads.shutdownNow();
  }
}
