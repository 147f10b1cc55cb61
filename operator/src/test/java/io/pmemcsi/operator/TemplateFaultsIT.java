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
import io.pmemcsi.operator.TemplateWorld.Subject;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
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
 * Every situation in the life of a CSIDriverDeployment, with every kind of call to the API failing
 * once before it takes effect and once after: the end is always the same, by the operator's own
 * effort. On the embedded API.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TemplateFaultsIT {

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final int SEEDS = CAMPAIGN ? 2_000 : 2;
  private static final String NAMESPACE = "drivers";

  /** As often as it takes, without the pauses that grow. */
  static final OperatorProgram.RetryPolicy QUICK =
      new OperatorProgram.RetryPolicy(
          () ->
              new GenericRetry().setInitialInterval(20).setIntervalMultiplier(1).setMaxAttempts(-1),
          1000);

  /** Whatever is still under way then does not matter to what follows. */
  private static final Duration SHORT = Duration.ofMillis(300);

  /** Nothing is under way any more, however busy the machine. */
  private static final Duration LONG = Duration.ofSeconds(1);

  /** How each situation ends if nothing fails. */
  private final Map<String, Map<String, String>> expected = new HashMap<>();

  private final Scene scene = new Scene();

  static Stream<TemplateWorld> worlds() {
    return Stream.concat(
        TemplateWorld.all(),
        Stream.of(
            new TemplateWorld(
                "status of workloads", Subject::create, TemplateFaultsIT::makeReady)));
  }

  /** All of them side by side. */
  @BeforeAll
  void letAllHappenUndisturbed() {
    var subjects = new LinkedHashMap<TemplateWorld, Subject>();
    worlds()
        .forEach(
            world -> subjects.put(world, scene.subject("plain-%02d".formatted(subjects.size()))));
    subjects.forEach((world, subject) -> world.before().accept(subject));
    scene.awaitQuiet(SHORT, subjects.values());
    subjects.forEach((world, subject) -> world.action().accept(subject));
    await()
        .until(
            () -> {
              scene.awaitQuiet(LONG, subjects.values());
              subjects.forEach((world, subject) -> expected.put(world.name(), subject.state()));
              return TemplateWorld.areRepaired(expected);
            });
    subjects.values().forEach(Subject::deleteVolume);
  }

  @AfterAll
  void close() {
    scene.close();
  }

  /** On a real API server {@link TemplateRefusalsIT} does it in all of {@link TemplateWorld}. */
  @ParameterizedTest
  @MethodSource("someWorlds")
  void endIsTheSameWhateverFailsOnce(TemplateWorld world) {
    Subject subject = scene.subject("faulty-" + name(world));
    scene.begin(world, subject);
    var plan = new FailEach();
    scene.server.faults().follow(plan);
    try {
      world.action().accept(subject);
      await(world + " " + plan)
          .ignoreExceptions()
          // each list that the state is made of fails twice, too
          .pollInterval(Duration.ofMillis(20))
          .untilAsserted(() -> assertThat(subject.state()).isEqualTo(expected(world)));
      assertThat(plan.failed).isNotEmpty();
    } finally {
      scene.server.faults().clear();
    }
    subject.deleteVolume();
  }

  /** The last one, which only this class has, is always among them. */
  static Stream<TemplateWorld> someWorlds() {
    List<TemplateWorld> all = worlds().toList().reversed();
    int share = CAMPAIGN ? 1 : 3;
    return IntStream.range(0, all.size()).filter(i -> i % share == 0).mapToObj(all::get);
  }

  /** Every state in which a process may leave the cluster is one from which the next goes on. */
  @ParameterizedTest
  @MethodSource("worldsWithManyWrites")
  void endIsTheSameThoughTheOperatorIsKilledAfterEveryWrite(TemplateWorld world) {
    // each operator looks at everything when it starts: let that be little
    try (var alone = new Scene()) {
      Subject subject = alone.subject("killed");
      alone.begin(world, subject);
      alone.stop();
      world.action().accept(subject);
      int lives = 0;
      do {
        lives++;
        assertThat(lives).as("operators for %s", world).isLessThan(60);
      } while (alone.diesBefore(subject, expected(world)));
      assertThat(lives).as("operators for %s", world).isGreaterThan(3);
    }
  }

  static Stream<TemplateWorld> worldsWithManyWrites() {
    return TemplateWorld.all()
        .filter(world -> world.name().matches("create all|other classes|deletion"));
  }

  /** A life by lot: whatever fails, is late or comes twice on the way does not show at its end. */
  @ParameterizedTest
  @MethodSource("seeds")
  void failingCallsAndLateOrRepeatedEventsDoNotChangeTheEnd(long seed) {
    Subject subject = scene.subject("lot-" + seed);
    scene.server.faults().follow(new RandomFaults(seed, 150, 150));
    try {
      TemplateLife.live(subject, seed);
      awaitEndOfLife(subject, seed);
      subject.delete();
      awaitGone(subject, seed);
    } finally {
      scene.server.faults().clear();
    }
  }

  /** Worse than any server: events vanish and change places until the caches are filled anew. */
  @ParameterizedTest
  @MethodSource("seeds")
  void lostAndReorderedEventsDoNotChangeTheEndOnceTheWatchesAreRenewed(long seed) {
    Subject subject = scene.subject("lost-" + seed);
    scene.server.faults().follow(RandomFaults.lossy(seed, 0, 300));
    try {
      TemplateLife.live(subject, seed);
    } finally {
      scene.server.faults().clear();
      scene.server.faults().forgetHistory();
      scene.server.faults().killWatches();
    }
    awaitEndOfLife(subject, seed);
    subject.delete();
    awaitGone(subject, seed);
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

  private static void awaitGone(Subject subject, long seed) {
    await("deleted, seed " + seed)
        .ignoreExceptions()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(() -> assertThat(subject.state()).isEqualTo(Map.of("resource", "gone")));
  }

  private Map<String, String> expected(TemplateWorld world) {
    return Objects.requireNonNull(expected.get(world.name()));
  }

  private static String name(TemplateWorld world) {
    return world.name().replace(' ', '-');
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

  /** As the controllers of Kubernetes do it. */
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
  private static final class Scene implements AutoCloseable {

    private final EmbeddedKubernetes server = EmbeddedKubernetes.start();
    private final KubernetesClient client = client(server);
    private Optional<OperatorProgram> program = Optional.empty();

    Scene() {
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

    /** Whether an operator that may write once does not get to the end. */
    boolean diesBefore(Subject subject, Map<String, String> expected) {
      var writes = new AtomicInteger();
      try (KubernetesClient mortal = client(server, new Death(writes))) {
        start(mortal);
        await()
            .pollInterval(Duration.ofMillis(50))
            .until(() -> writes.get() > 1 || subject.state().equals(expected));
        stop();
        return writes.get() > 1 || !subject.state().equals(expected);
      }
    }

    void begin(TemplateWorld world, Subject subject) {
      world.before().accept(subject);
      awaitQuiet(SHORT, List.of(subject));
    }

    /** Nobody else writes here, and whatever wakes the operator does so at once. */
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
                      .forEach(one -> builder.addOrReplaceInterceptor("death", one)))
          .build();
    }
  }

  /** Lets one write through, and no other; what was refused, and events, are none. */
  private record Death(AtomicInteger writes) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (isWrite(request) && writes.get() > 0) {
        writes.incrementAndGet();
        throw new IllegalStateException("this operator is dead");
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
      boolean isRehearsal = String.valueOf(request.uri().getQuery()).contains("dryRun=");
      boolean isEvent = request.uri().getPath().endsWith("/events");
      return !request.method().equals("GET") && !isRehearsal && !isEvent;
    }
  }
}
