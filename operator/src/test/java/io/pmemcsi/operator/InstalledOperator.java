package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The operator as a user installs it, with exactly the permissions of its own YAML, except that its
 * process is this JVM.
 */
final class InstalledOperator implements AutoCloseable {

  static final String IMAGE = "registry.example.com/pmem-csi-driver:test";

  private static final String NO_READ = "nowhere";
  private static final Path CRDS = Path.of("../deploy/crd");

  private final Sandbox sandbox;
  private final KubernetesClient client;
  private final List<String> writes = new CopyOnWriteArrayList<>();
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final AtomicInteger writesLeft = new AtomicInteger(Integer.MAX_VALUE);
  private final AtomicReference<Hook> hook = new AtomicReference<>(Hook.NONE);
  private final AtomicReference<String> failingRead = new AtomicReference<>(NO_READ);
  private final AtomicReference<Runnable> watcher = new AtomicReference<>(() -> {});
  private CompletableFuture<Void> hookDone = CompletableFuture.completedFuture(null);
  private Clock clock = Clock.systemUTC();
  private Optional<OperatorProgram> program = Optional.empty();

  private InstalledOperator(Sandbox sandbox) {
    this.sandbox = sandbox;
    Config limited = sandbox.clientAs(OperatorInstallation.NAME).getConfiguration();
    this.client =
        Clients.to(limited)
            .withHttpClientBuilderConsumer(
                builder ->
                    builder.addOrReplaceInterceptor(
                        "writes",
                        new Recorder(writes, warnings, writesLeft, hook, failingRead, watcher)))
            .build();
  }

  /** Installs CRDs, service account and RBAC, but does not start the operator. */
  static InstalledOperator install(Sandbox sandbox) {
    installCrds(sandbox.client());
    for (HasMetadata object : new OperatorInstallation(sandbox.namespace(), IMAGE).objects()) {
      if (!(object instanceof Namespace) && !(object instanceof Deployment)) {
        apply(sandbox.client(), object);
      }
    }
    // one permission of each role, since the authorizer observes them one by one
    sandbox.awaitRight(OperatorInstallation.NAME, "update", "coordination.k8s.io", "leases");
    sandbox.awaitRight(OperatorInstallation.NAME, "list", "storage.k8s.io", "csidrivers");
    sandbox.awaitRight("default", OperatorInstallation.NAME, "create", "", "events");
    var installed = new InstalledOperator(sandbox);
    sandbox.cleanUp(installed::close);
    return installed;
  }

  /** As {@code kubectl apply --server-side} does. */
  static void apply(KubernetesClient client, HasMetadata object) {
    client.resource(object).fieldManager("kubectl").forceConflicts().serverSideApply();
  }

  static void installCrds(KubernetesClient client) {
    Definitions.install(client, CRDS);
  }

  InstalledOperator start() {
    return start(IMAGE, false);
  }

  /** With defaults for drivers from templates. */
  InstalledOperator startWithConfig(Path file) {
    return start(IMAGE, false, Optional.of(file));
  }

  /** As a release with another default image. */
  InstalledOperator startWithImage(String image) {
    return start(image, false);
  }

  /** After this number of writes no request reaches the server, as if the operator was killed. */
  void crashAfterWrites(int number) {
    writesLeft.set(number);
  }

  /** An action that runs once, just before the operator sends a write to this path. */
  void beforeWrite(String pathEnd, Runnable action) {
    var done = new CompletableFuture<Void>();
    hookDone = done;
    hook.set(
        new Hook(
            pathEnd,
            () -> {
              try {
                action.run();
                done.complete(null);
              } catch (RuntimeException e) {
                done.completeExceptionally(e);
              }
            }));
  }

  /** An action that runs before each write of the operator. */
  void beforeEachWrite(Runnable action) {
    watcher.set(action);
  }

  /** Fails the next read of this path once. */
  void failRead(String pathEnd) {
    failingRead.set(pathEnd);
  }

  boolean hasReadFailed() {
    return failingRead.get().equals(NO_READ);
  }

  /** Waits for the action, and throws its exception. */
  void awaitHook() {
    hookDone.orTimeout(2, TimeUnit.MINUTES).join();
  }

  /** From the next start on. */
  InstalledOperator withClock(Clock clock) {
    this.clock = clock;
    return this;
  }

  boolean isCrashed() {
    return writesLeft.get() < 0;
  }

  /** Starts a new operator after a crash. */
  void restart() {
    stop();
    writesLeft.set(Integer.MAX_VALUE);
    start();
  }

  /** Runs as the process of this pod, without the image option. */
  InstalledOperator startInPod(Pod pod) {
    return start(Optional.empty(), false, Optional.empty(), environment(pod));
  }

  /** The environment that a kubelet would pass to the first container. */
  static Map<String, String> environment(Pod pod) {
    var environment = new HashMap<String, String>();
    for (EnvVar variable : pod.getSpec().getContainers().getFirst().getEnv()) {
      environment.put(
          variable.getName(),
          variable.getValueFrom() == null
              ? variable.getValue()
              : switch (variable.getValueFrom().getFieldRef().getFieldPath()) {
                case "metadata.name" -> pod.getMetadata().getName();
                case "metadata.namespace" -> pod.getMetadata().getNamespace();
                case String other -> throw new IllegalArgumentException(other);
              });
    }
    return environment;
  }

  /** A pod of the deployment with which the operator is installed; it is not created here. */
  static Pod pod(String namespace, String image) {
    Deployment deployment =
        new OperatorInstallation(namespace, image)
            .objects().stream()
                .filter(Deployment.class::isInstance)
                .map(Deployment.class::cast)
                .findFirst()
                .orElseThrow();
    return new PodBuilder()
        .withNewMetadata()
        .withName(OperatorInstallation.NAME + "-7c9d8-x2v4b")
        .withNamespace(namespace)
        .endMetadata()
        .withNewSpecLike(deployment.getSpec().getTemplate().getSpec())
        // without kube-controller-manager no controller creates tokens
        .withAutomountServiceAccountToken(false)
        .endSpec()
        .build();
  }

  /** One of several replicas with leader election. */
  InstalledOperator startReplica() {
    return start(IMAGE, true);
  }

  private InstalledOperator start(String image, boolean leaderElection) {
    return start(image, leaderElection, Optional.empty());
  }

  private InstalledOperator start(String image, boolean leaderElection, Optional<Path> config) {
    return start(
        Optional.of(image), leaderElection, config, Map.of("WATCH_NAMESPACE", sandbox.namespace()));
  }

  private InstalledOperator start(
      Optional<String> image,
      boolean leaderElection,
      Optional<Path> config,
      Map<String, String> environment) {
    program =
        Optional.of(
            OperatorProgram.start(
                client,
                new OperatorOptions(
                    Optional.empty(),
                    image,
                    Optional.of(ListenAddress.parse("127.0.0.1:0")),
                    leaderElection,
                    config),
                environment,
                clock));
    return this;
  }

  void stop() {
    program.ifPresent(OperatorProgram::close);
    program = Optional.empty();
  }

  int metricsPort() {
    return program.orElseThrow().metricsPort().orElseThrow();
  }

  /** The response of its port for metrics and health. */
  String read(String path) {
    URI page = URI.create("http://127.0.0.1:%d%s".formatted(metricsPort(), path));
    try (InputStream in = page.toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + page, e);
    }
  }

  /** The number of reconciliations of a cluster-scoped resource. */
  double runs(String name) {
    return metric("pmem_csi_deployment_reconcile{name=\"" + name);
  }

  /** The number of failed reconciliations of a kind. */
  double errors(String kind) {
    return metric("pmem_csi_operator_reconcile_errors_total{kind=\"" + kind);
  }

  private double metric(String start) {
    return read("/metrics")
        .lines()
        .filter(line -> line.startsWith(start))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElse(0);
  }

  /** Returns when it has written nothing for a second. */
  void awaitQuiet() {
    await()
        .until(
            () -> {
              int before = writes.size();
              Thread.sleep(1000);
              return writes.size() == before;
            });
  }

  /** Method and path of every write call so far. */
  List<String> writes() {
    return List.copyOf(writes);
  }

  /**
   * What the server warned about in its responses, each with the path: deprecated APIs, and fields
   * that it accepts but finds wrong, such as two ports of the same name.
   */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  @Override
  public void close() {
    stop();
    client.close();
  }

  private record Hook(String pathEnd, Runnable action) {
    private static final Hook NONE = new Hook("nowhere", () -> {});
  }

  private record Recorder(
      List<String> writes,
      List<String> warnings,
      AtomicInteger left,
      AtomicReference<Hook> hook,
      AtomicReference<String> failingRead,
      AtomicReference<Runnable> watcher)
      implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      boolean write =
          !request.method().equals("GET")
              && !String.valueOf(request.uri().getQuery()).contains("dryRun=All");
      if (left.get() < 0 || (write && left.decrementAndGet() < 0)) {
        throw new IllegalStateException("this operator crashed");
      }
      String failing = failingRead.get();
      if (!write
          && request.uri().getPath().endsWith(failing)
          && failingRead.compareAndSet(failing, NO_READ)) {
        throw new KubernetesClientException("the server cannot be reached for once");
      }
      if (write) {
        writes.add(request.method() + " " + request.uri().getPath());
        watcher.get().run();
        Hook waiting = hook.get();
        if (request.uri().getPath().endsWith(waiting.pathEnd())
            && hook.compareAndSet(waiting, Hook.NONE)) {
          waiting.action().run();
        }
      }
    }

    @Override
    public void after(
        HttpRequest request,
        HttpResponse<?> response,
        AsyncBody.Consumer<List<ByteBuffer>> consumer) {
      for (String warning : response.headers("Warning")) {
        warnings.add("%s: %s".formatted(request.uri().getPath(), warning));
      }
    }
  }
}
