package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** One embedded cluster with at most one operator, and with fault injection. */
final class EmbeddedTestbed implements AutoCloseable {

  static final String NAMESPACE = "pmem-csi";
  static final String IMAGE = "image:one";
  private static final int LAST_REQUESTS = 40;

  private final EmbeddedKubernetes server = EmbeddedKubernetes.start();
  private final KubernetesClient client = client(server);
  private Optional<OperatorProgram> program = Optional.empty();
  private Optional<KubernetesClient> operatorClient = Optional.empty();

  EmbeddedTestbed() {
    InstalledOperator.installCrds(client);
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
  }

  /** The user's client; the operator has another one. */
  KubernetesClient client() {
    return client;
  }

  Faults faults() {
    return server.faults();
  }

  void start() {
    KubernetesClient forOperator = client(server);
    operatorClient = Optional.of(forOperator);
    program =
        Optional.of(
            OperatorProgram.start(
                forOperator,
                new OperatorOptions(
                    Optional.empty(),
                    Optional.of(IMAGE),
                    Optional.empty(),
                    false,
                    Optional.empty()),
                Map.of("WATCH_NAMESPACE", NAMESPACE),
                Clock.systemUTC()));
  }

  void stop() {
    program.ifPresent(OperatorProgram::close);
    operatorClient.ifPresent(KubernetesClient::close);
    program = Optional.empty();
    operatorClient = Optional.empty();
  }

  /** Ends all faults and all watches: the operator recovers missed events by listing again. */
  void renewWatches() {
    server.faults().clear();
    server.faults().forgetHistory();
    server.faults().killWatches();
  }

  int writes() {
    return server.requests().writes().size();
  }

  /** For failure messages: the requests between the operator and the server. */
  String describeRequests() {
    List<SeenRequest> all = server.requests().all();
    return """
    %d watches are open, clients are %s, threads are in %s; the last requests:
    %s\
    """
        .formatted(
            server.openWatches(),
            faults().isCutOff() ? "cut off" : "let in",
            dumpThreads(),
            all.subList(Math.max(0, all.size() - LAST_REQUESTS), all.size()).stream()
                .map(SeenRequest::toString)
                .collect(Collectors.joining("\n")));
  }

  private static Path dumpThreads() {
    Path file = Path.of("target", "threads-" + System.nanoTime()).toAbsolutePath();
    try {
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }

  /** The operator emits events after the status: later writes do not belong to the change. */
  void awaitQuiet() {
    await()
        .until(
            () -> {
              int before = writes();
              Thread.sleep(300);
              return writes() == before;
            });
  }

  @Override
  public void close() {
    stop();
    client.close();
    server.close();
  }

  private static KubernetesClient client(EmbeddedKubernetes server) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(server.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    return Clients.to(config).build();
  }
}
