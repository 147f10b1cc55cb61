package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.operator.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The operator as a user installs it, with exactly the rights of its own YAML, except that its
 * process is this JVM.
 */
final class InstalledOperator implements AutoCloseable {

  static final String IMAGE = "registry.example.com/pmem-csi-driver:test";

  private static final Path CRDS = Path.of("../deploy/crd");

  private final Sandbox sandbox;
  private final KubernetesClient client;
  private final List<String> writes = new CopyOnWriteArrayList<>();
  private Optional<OperatorProgram> program = Optional.empty();

  private InstalledOperator(Sandbox sandbox) {
    this.sandbox = sandbox;
    Config limited = sandbox.clientAs(OperatorInstallation.NAME).getConfiguration();
    this.client =
        new KubernetesClientBuilder()
            .withConfig(limited)
            .withHttpClientBuilderConsumer(
                builder -> builder.addOrReplaceInterceptor("writes", new Recorder(writes)))
            .build();
  }

  /** Installs CRDs, account and rights, but does not start anything. */
  static InstalledOperator install(Sandbox sandbox) {
    installCrds(sandbox.client());
    for (HasMetadata object : new OperatorInstallation(sandbox.namespace(), IMAGE).objects()) {
      if (!(object instanceof Namespace) && !(object instanceof Deployment)) {
        sandbox.client().resource(object).createOr(NonDeletingOperation::update);
      }
    }
    var installed = new InstalledOperator(sandbox);
    sandbox.cleanUp(installed::close);
    return installed;
  }

  static void installCrds(KubernetesClient client) {
    try (var files = Files.list(CRDS)) {
      for (Path file : files.sorted().toList()) {
        try (InputStream in = Files.newInputStream(file)) {
          client.load(in).items().stream()
              .forEach(crd -> client.resource(crd).createOr(NonDeletingOperation::update));
        }
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  InstalledOperator start() {
    program =
        Optional.of(
            OperatorProgram.start(
                client,
                new OperatorOptions(
                    Optional.empty(),
                    Optional.of(IMAGE),
                    Optional.of(ListenAddress.parse("127.0.0.1:0")),
                    false),
                Map.of("WATCH_NAMESPACE", sandbox.namespace()),
                Clock.systemUTC()));
    return this;
  }

  void stop() {
    program.ifPresent(OperatorProgram::close);
    program = Optional.empty();
  }

  int metricsPort() {
    return program.orElseThrow().metricsPort().orElseThrow();
  }

  /** Method and path of every write call so far. */
  List<String> writes() {
    return List.copyOf(writes);
  }

  @Override
  public void close() {
    stop();
    client.close();
  }

  private record Recorder(List<String> writes) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (!request.method().equals("GET")) {
        writes.add(request.method() + " " + request.uri().getPath());
      }
    }
  }
}
