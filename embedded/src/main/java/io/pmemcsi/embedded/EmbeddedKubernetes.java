package io.pmemcsi.embedded;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.http.ApiHandler;
import io.pmemcsi.embedded.http.RequestLog;
import io.pmemcsi.embedded.http.Watches;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ServerVersion;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/**
 * A Kubernetes API server inside this process, on a random port of the loopback interface. It keeps
 * all objects in memory and has no nodes, no scheduler and no controllers except garbage
 * collection.
 */
public final class EmbeddedKubernetes implements AutoCloseable {
  private static final List<String> NAMESPACES =
      List.of("default", "kube-node-lease", "kube-public", "kube-system");

  static {
    // The JDK reads it once, when the server's class is loaded. Without it a response may wait 40
    // ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final HttpServer server;
  private final ExecutorService threads;
  private final Watches watches;
  private final Faults faults;
  private final RequestLog requests;

  private EmbeddedKubernetes(ServerVersion version, Optional<SSLContext> tls) throws IOException {
    Store store = new Store();
    Api api = new Api(store, version);
    NAMESPACES.forEach(api::createNamespace);
    watches = new Watches(store);
    faults = new Faults(watches::endAll, store::compact);
    requests = new RequestLog();
    server = server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), tls);
    threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/", new ApiHandler(api, store, faults, requests, watches));
    server.start();
  }

  private static HttpServer server(InetSocketAddress address, Optional<SSLContext> tls)
      throws IOException {
    if (tls.isEmpty()) {
      return HttpServer.create(address, 0);
    }
    HttpsServer server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls.get()));
    return server;
  }

  /** Starts a server of Kubernetes 1.20, the version that is compared with a real server. */
  public static EmbeddedKubernetes start() {
    return start(ServerVersion.KNOWN, Optional.empty());
  }

  /** The same with TLS, as a real server has it. */
  public static EmbeddedKubernetes startWithTls(SSLContext tls) {
    return start(ServerVersion.KNOWN, Optional.of(tls));
  }

  /**
   * Starts a server that reports another version, such as 1.31. A newer version keeps unknown
   * fields.
   */
  public static EmbeddedKubernetes start(String version) {
    return start(ServerVersion.parse(version), Optional.empty());
  }

  private static EmbeddedKubernetes start(ServerVersion version, Optional<SSLContext> tls) {
    try {
      return new EmbeddedKubernetes(version, tls);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot listen on the loopback interface", e);
    }
  }

  /** The server's address, such as http://127.0.0.1:41231. */
  public URI url() {
    String scheme = server instanceof HttpsServer ? "https" : "http";
    return URI.create("%s://127.0.0.1:%d".formatted(scheme, server.getAddress().getPort()));
  }

  /** A kubeconfig file for this server. */
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

  /** The faults to inject. */
  public Faults faults() {
    return faults;
  }

  /** The requests received so far. */
  public RequestLog requests() {
    return requests;
  }

  /** The number of open watches. */
  public int openWatches() {
    return watches.open();
  }

  @Override
  public void close() {
    watches.endAll();
    server.stop(0);
    threads.shutdownNow();
  }
}
