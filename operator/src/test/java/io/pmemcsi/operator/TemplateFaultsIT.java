package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatusBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RandomFaults;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.TemplateScenario.Subject;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.runtime.RetryPolicy;
import io.pmemcsi.testbed.kubernetes.Clients;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every scenario in the lifecycle of a CSIDriverDeployment, with every kind of API call failing
 * once before it takes effect and once after: the operator always reaches the same final state.
 * Uses the embedded API.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TemplateFaultsIT {

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final int SEEDS = CAMPAIGN ? 2_000 : 2;
  private static final String NAMESPACE = "drivers";

  /** Retries without exponential back-off. */
  static final RetryPolicy QUICK =
      new RetryPolicy(
          () ->
              new GenericRetry().setInitialInterval(20).setIntervalMultiplier(1).setMaxAttempts(-1),
          1000);

  /** Requests still in flight after this pause do not affect the test. */
  private static final Duration SHORT = Duration.ofMillis(300);

  /** No request is in flight after this pause, even on a busy machine. */
  private static final Duration LONG = Duration.ofSeconds(1);

  /** The final state of each scenario without faults. */
  private final Map<String, Map<String, String>> expected = new HashMap<>();

  private final Testbed testbed = new Testbed();

  static Stream<TemplateScenario> scenarios() {
    return Stream.concat(
        TemplateScenario.all(),
        Stream.of(
            new TemplateScenario(
                "status of workloads", Subject::create, TemplateFaultsIT::makeReady)));
  }

  /** Runs all of them concurrently. */
  @BeforeAll
  void runAllScenariosWithoutFaults() {
    var subjects = new LinkedHashMap<TemplateScenario, Subject>();
    scenarios()
        .forEach(
            scenario ->
                subjects.put(scenario, testbed.subject("plain-%02d".formatted(subjects.size()))));
    subjects.forEach((scenario, subject) -> scenario.before().accept(subject));
    testbed.awaitQuiet(SHORT, subjects.values());
    subjects.forEach((scenario, subject) -> scenario.action().accept(subject));
    await()
        .until(
            () -> {
              testbed.awaitQuiet(LONG, subjects.values());
              subjects.forEach(
                  (scenario, subject) -> expected.put(scenario.name(), subject.state()));
              return TemplateScenario.areRepaired(expected);
            });
    subjects.values().forEach(Subject::deleteVolume);
  }

  @AfterAll
  void close() {
    testbed.close();
  }

  /** On a real API server {@link TemplateServerErrorsIT} tests all of {@link TemplateScenario}. */
  @ParameterizedTest
  @MethodSource("someScenarios")
  void finalStateIsTheSameWhateverFailsOnce(TemplateScenario scenario) {
    Subject subject = testbed.subject("faulty-" + name(scenario));
    testbed.begin(scenario, subject);
    var plan = new FailEach();
    testbed.server.faults().follow(plan);
    try {
      scenario.action().accept(subject);
      await(scenario + " " + plan)
          .ignoreExceptions()
          // the list requests of the test fail twice, too
          .pollInterval(Duration.ofMillis(20))
          .untilAsserted(() -> assertThat(subject.state()).isEqualTo(expected(scenario)));
      assertThat(plan.failed).isNotEmpty();
    } finally {
      testbed.server.faults().clear();
    }
    subject.deleteVolume();
  }

  /** Always includes the last one, which only this class has. */
  static Stream<TemplateScenario> someScenarios() {
    List<TemplateScenario> all = scenarios().toList().reversed();
    int share = CAMPAIGN ? 1 : 3;
    return IntStream.range(0, all.size()).filter(i -> i % share == 0).mapToObj(all::get);
  }

  /** The next operator continues from every state that a crash can leave. */
  @ParameterizedTest
  @MethodSource("scenariosWithManyWrites")
  void finalStateIsTheSameIfTheOperatorIsKilledAfterEveryWrite(TemplateScenario scenario) {
    // each operator reconciles all resources at its start: use a cluster with one resource
    try (var alone = new Testbed()) {
      Subject subject = alone.subject("killed");
      alone.begin(scenario, subject);
      alone.stop();
      scenario.action().accept(subject);
      int operators = 0;
      do {
        operators++;
        assertThat(operators).as("operators for %s", scenario).isLessThan(60);
      } while (alone.crashesBefore(subject, expected(scenario)));
      assertThat(operators).as("operators for %s", scenario).isGreaterThan(3);
    }
  }

  static Stream<TemplateScenario> scenariosWithManyWrites() {
    return TemplateScenario.all()
        .filter(scenario -> scenario.name().matches("create all|other classes|deletion"));
  }

  /** A random lifecycle: failed calls and late or repeated events do not change its final state. */
  @ParameterizedTest
  @MethodSource("seeds")
  void failedCallsAndLateOrRepeatedEventsDoNotChangeTheFinalState(long seed) {
    Subject subject = testbed.subject("lot-" + seed);
    testbed.server.faults().follow(new RandomFaults(seed, 150, 150));
    try {
      TemplateLifecycle.live(subject, seed);
      awaitEndOfLife(subject, seed);
      subject.delete();
      awaitDeleted(subject, seed);
    } finally {
      testbed.server.faults().clear();
    }
  }

  /** Worse than any server: events are lost and reordered until the caches list again. */
  @ParameterizedTest
  @MethodSource("seeds")
  void lostAndReorderedEventsDoNotChangeTheFinalStateAfterARelist(long seed) {
    Subject subject = testbed.subject("lost-" + seed);
    testbed.server.faults().follow(RandomFaults.lossy(seed, 0, 300));
    try {
      TemplateLifecycle.live(subject, seed);
    } finally {
      testbed.server.faults().clear();
      testbed.server.faults().forgetHistory();
      testbed.server.faults().killWatches();
    }
    awaitEndOfLife(subject, seed);
    subject.delete();
    awaitDeleted(subject, seed);
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  private void awaitEndOfLife(Subject subject, long seed) {
    await("seed " + seed)
        .ignoreExceptions()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(
            () ->
                assertThat(subject.state())
                    .isEqualTo(Objects.requireNonNull(expected.get("create all"))));
  }

  private static void awaitDeleted(Subject subject, long seed) {
    await("deleted, seed " + seed)
        .ignoreExceptions()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(() -> assertThat(subject.state()).isEqualTo(Map.of("resource", "deleted")));
  }

  private Map<String, String> expected(TemplateScenario scenario) {
    return Objects.requireNonNull(expected.get(scenario.name()));
  }

  private static String name(TemplateScenario scenario) {
    return scenario.name().replace(' ', '-');
  }

  /**
   * Each call that differs in verb, kind or name fails the first time before it takes effect, and
   * the second time afterwards.
   */
  private static final class FailEach implements FaultPlan {

    private final Map<String, Integer> failed = new ConcurrentHashMap<>();

    @Override
    public RequestFault onRequest(SeenRequest request) {
      if (request.verb().equals("watch")) {
        return RequestFault.NONE;
      }
      return switch (failed.merge(request.toString(), 1, Integer::sum)) {
        case 1 -> new RequestFault.Fail(500, Moment.BEFORE);
        case 2 -> new RequestFault.Fail(500, Moment.AFTER);
        default -> RequestFault.NONE;
      };
    }

    @Override
    public String toString() {
      return "failed: " + failed.keySet();
    }
  }

  /** As the Kubernetes controllers do. */
  private static void makeReady(Subject subject) {
    Subject.retrying(
        () ->
            subject
                .client()
                .apps()
                .daemonSets()
                .inNamespace(NAMESPACE)
                .withName(subject.name() + "-node")
                .editStatus(
                    workload -> {
                      workload.setStatus(
                          new DaemonSetStatusBuilder()
                              .withObservedGeneration(workload.getMetadata().getGeneration())
                              .withDesiredNumberScheduled(2)
                              .withCurrentNumberScheduled(2)
                              .withUpdatedNumberScheduled(2)
                              .withNumberReady(2)
                              .withNumberMisscheduled(0)
                              .build());
                      return workload;
                    }));
    Subject.retrying(
        () ->
            subject
                .client()
                .apps()
                .deployments()
                .inNamespace(NAMESPACE)
                .withName(subject.name() + "-controller")
                .editStatus(
                    workload -> {
                      workload.setStatus(
                          new DeploymentStatusBuilder()
                              .withObservedGeneration(workload.getMetadata().getGeneration())
                              .withReplicas(1)
                              .withUpdatedReplicas(1)
                              .withReadyReplicas(1)
                              .build());
                      return workload;
                    }));
  }

  /** One embedded cluster with an operator. */
  private static final class Testbed implements AutoCloseable {

    private final EmbeddedKubernetes server = EmbeddedKubernetes.start();
    private final KubernetesClient client = client(server);
    private Optional<OperatorProgram> program = Optional.empty();

    Testbed() {
      InstalledOperator.installCrds(client);
      client
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
          .create();
      start(client);
    }

    Subject subject(String name) {
      return new Subject(client, new TemplateResource(client, NAMESPACE, name));
    }

    private void start(KubernetesClient with) {
      program =
          Optional.of(
              OperatorProgram.start(
                  with,
                  new OperatorOptions(
                      Optional.empty(),
                      Optional.of("image:one"),
                      Optional.empty(),
                      false,
                      Optional.empty()),
                  Map.of("WATCH_NAMESPACE", NAMESPACE),
                  Clock.systemUTC(),
                  QUICK));
    }

    void stop() {
      program.ifPresent(OperatorProgram::close);
      program = Optional.empty();
    }

    /** Whether an operator that may write once crashes before the final state. */
    boolean crashesBefore(Subject subject, Map<String, String> expected) {
      var writes = new AtomicInteger();
      try (KubernetesClient crashing = client(server, new CrashInjector(writes))) {
        start(crashing);
        await()
            .pollInterval(Duration.ofMillis(50))
            .until(() -> writes.get() > 1 || subject.state().equals(expected));
        stop();
        return writes.get() > 1 || !subject.state().equals(expected);
      }
    }

    void begin(TemplateScenario scenario, Subject subject) {
      scenario.before().accept(subject);
      awaitQuiet(SHORT, List.of(subject));
    }

    /** Only the operator writes here, and every event triggers it at once. */
    void awaitQuiet(Duration pause, Collection<Subject> subjects) {
      await()
          .pollDelay(Duration.ZERO)
          .until(
              () -> {
                int before = server.requests().writes().size();
                Thread.sleep(pause);
                return server.requests().writes().size() == before
                    && subjects.stream().allMatch(Subject::isSeen);
              });
    }

    @Override
    public void close() {
      server.faults().clear();
      stop();
      client.close();
      server.close();
    }

    private static KubernetesClient client(EmbeddedKubernetes server, Interceptor... interceptors) {
      Config config =
          new ConfigBuilder(Config.empty())
              .withMasterUrl(server.url().toString())
              .withRequestRetryBackoffLimit(0)
              .build();
      return Clients.to(config)
          .withHttpClientBuilderConsumer(
              builder ->
                  List.of(interceptors)
                      .forEach(one -> builder.addOrReplaceInterceptor("crash", one)))
          .build();
    }
  }

  /** Lets one write through; rejected writes, dry runs and events do not count. */
  private record CrashInjector(AtomicInteger writes) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (isWrite(request) && writes.get() > 0) {
        writes.incrementAndGet();
        throw new IllegalStateException("this operator crashed");
      }
    }

    @Override
    public void after(
        HttpRequest request,
        HttpResponse<?> response,
        AsyncBody.Consumer<List<ByteBuffer>> consumer) {
      if (isWrite(request) && response.isSuccessful()) {
        writes.incrementAndGet();
      }
    }

    private static boolean isWrite(HttpRequest request) {
      boolean isDryRun = String.valueOf(request.uri().getQuery()).contains("dryRun=");
      boolean isEvent = request.uri().getPath().endsWith("/events");
      return !request.method().equals("GET") && !isDryRun && !isEvent;
    }
  }
}
