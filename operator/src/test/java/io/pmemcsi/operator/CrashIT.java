package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.RandomFaults;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.pmem.PmemReconciler;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The operator is killed at every single write, before it takes effect and after, and started
 * again: the end is always the same. All points, on the embedded API.
 */
class CrashIT {

  private static final int SEEDS = Boolean.getBoolean("pmem-csi.campaign") ? 500 : 6;
  private static final int AT_ONCE = 4;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String NAMESPACE = "pmem-csi";
  private static final String NAME = "crash.example.com";
  private static final String H = "crash-example-com";

  private static final String FULL =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata: {name: crash.example.com}
      spec:
        controllerTLS: {managed: true}
        schedulerNodePort: 31000
        labels: {team: a}
      """;

  private static final String CHANGED =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata: {name: crash.example.com}
      spec:
        image: other:image
        deviceMode: direct
        logLevel: 5
        nodeSelector: {other: label}
        labels: {team: b}
      """;

  @ParameterizedTest
  @EnumSource(Moment.class)
  void creationEndsInTheSameStateWhereverItWasInterrupted(Moment moment) {
    Map<String, String> expected;
    int writes;
    try (var world = new World()) {
      world.start();
      writes = world.writesAfter(world::create, 1);
      expected = world.snapshot();
    }
    assertThat(expected).hasSizeGreaterThan(20);
    atEachWrite(
        writes,
        n -> {
          try (var world = new World()) {
            world.disturb(n, moment);
            world.start();
            world.killAtWrite(n, moment, 1, world::create);
            world.start();
            world.awaitSettled(1);
            await("killed at write " + n + " " + moment)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(expected));
            assertThat(world.events()).containsExactly("NewDeployment");
          }
        });
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void updateEndsInTheSameStateWhereverItWasInterrupted(Moment moment) {
    Map<String, String> expected;
    int writes;
    try (var world = new World()) {
      world.install();
      writes = world.writesAfter(world::update, 2);
      expected = world.snapshot();
    }
    assertThat(expected.keySet()).noneMatch(name -> name.startsWith("Deployment"));
    atEachWrite(
        writes,
        n -> {
          try (var world = new World()) {
            world.install();
            world.disturb(n, moment);
            world.killAtWrite(n, moment, 2, world::update);
            world.start();
            world.awaitSettled(2);
            await("killed at write " + n + " " + moment)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(expected));
          }
        });
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void deletionLeavesNothingWhereverItWasInterrupted(Moment moment) {
    int writes;
    try (var world = new World()) {
      world.install();
      writes = world.writesAfter(world::delete, world::gone);
      assertThat(world.snapshot()).isEmpty();
    }
    assertThat(writes).isGreaterThan(20);
    atEachWrite(
        writes,
        n -> {
          try (var world = new World()) {
            world.install();
            world.disturb(n, moment);
            world.killAtWrite(n, moment, world::delete, world::gone);
            world.start();
            await("killed at write " + n + " " + moment)
                .atMost(LIMIT)
                .untilAsserted(
                    () -> {
                      assertThat(world.gone()).isTrue();
                      assertThat(world.snapshot()).isEmpty();
                    });
          }
        });
  }

  /** Somebody else makes an object in the last moment, and the operator dies right after. */
  @Test
  void foreignObjectIsNeverAdoptedWhereverItAppears() {
    List<HasMetadata> wanted;
    try (var world = new World()) {
      wanted =
          new Rendering()
              .objects(
                  new Rendering().read(FULL),
                  new ClusterProbe(world.client).facts(NAMESPACE, "image:one"));
    }
    assertThat(wanted).hasSizeGreaterThan(15);
    atEachWrite(
        wanted.size(),
        n -> {
          HasMetadata foreign = wanted.get(n - 1);
          try (var world = new World()) {
            world
                .server
                .faults()
                .onWrite(
                    write -> {
                      if (write.verb().equals("create")
                          && write.plural().equals(foreign.getPlural())
                          && world.appeared.compareAndSet(false, true)) {
                        world.client.resource(foreign).create();
                        world.server.faults().cutOffAtWrite(2, Moment.AFTER);
                      }
                    });
            world.start();
            world.create();
            await().atMost(LIMIT).until(() -> world.appeared.get());
            world.stop();
            world.server.faults().clear();
            world.start();
            await(foreign.getKind())
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.phase()).isEqualTo("Failed"));
            HasMetadata kept = world.client.resource(foreign).get();
            assertThat(kept.getMetadata().getOwnerReferences()).isEmpty();
            assertThat(kept.getMetadata().getManagedFields())
                .noneMatch(entry -> PmemReconciler.FIELD_MANAGER.equals(entry.getManager()));
          }
        });
  }

  /** Several at once: each spends most of its time waiting. */
  private static void atEachWrite(int writes, IntConsumer point) {
    try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
      List<Future<?>> points =
          IntStream.rangeClosed(1, writes)
              .<Future<?>>mapToObj(n -> threads.submit(() -> point.accept(n)))
              .toList();
      for (Future<?> each : points) {
        try {
          each.get();
        } catch (ExecutionException e) {
          threads.shutdownNow();
          throw new AssertionError(String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
          threads.shutdownNow();
          throw new IllegalStateException(e);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void failingRequestsAndLateOrRepeatedEventsDoNotChangeTheEnd(long seed) {
    Map<String, String> expected;
    try (var world = new World()) {
      world.install();
      world.update();
      world.awaitSettled(2);
      expected = world.snapshot();
    }
    try (var world = new World()) {
      world.start();
      world.server.faults().follow(new RandomFaults(seed, 150, 150));
      world.retrying(world::create);
      world.retrying(world::update);
      await("seed " + seed)
          .ignoreExceptions()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(expected));
      world.retrying(world::delete);
      await("deleted, seed " + seed)
          .ignoreExceptions()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                assertThat(world.gone()).isTrue();
                assertThat(world.snapshot()).isEmpty();
              });
    }
  }

  /** Worse than any server: events vanish and change places until the caches are filled anew. */
  @ParameterizedTest
  @MethodSource("seeds")
  void lostAndReorderedEventsDoNotChangeTheEndOnceTheWatchesAreRenewed(long seed) {
    Map<String, String> expected;
    try (var world = new World()) {
      world.install();
      world.update();
      world.awaitSettled(2);
      expected = world.snapshot();
    }
    try (var world = new World()) {
      world.start();
      world.server.faults().follow(RandomFaults.lossy(seed, 0, 300));
      world.create();
      world.retrying(world::update);
      // long enough to act on what it sees, short enough to be in the middle of it
      await().pollDelay(Duration.ofMillis(300)).until(() -> true);
      world.server.faults().clear();
      world.server.faults().forgetHistory();
      world.server.faults().killWatches();

      await("seed " + seed)
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(expected));
    }
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  @Test
  void missedEventsAreMadeUpForWhenTheWatchIsRenewed() {
    try (var world = new World()) {
      world.install();
      Map<String, String> expected = world.snapshot();
      world.server.faults().forgetHistory();
      world.server.faults().killWatches();
      world.client.apps().daemonSets().inNamespace(NAMESPACE).withName(H + "-node").delete();

      await()
          .atMost(Duration.ofSeconds(40))
          .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(expected));
    }
  }

  /** One embedded cluster with at most one operator. */
  private static final class World implements AutoCloseable {

    private final EmbeddedKubernetes server = EmbeddedKubernetes.start();
    private final KubernetesClient client = client(server);
    private final AtomicBoolean appeared = new AtomicBoolean();
    private Optional<OperatorProgram> program = Optional.empty();
    private Optional<KubernetesClient> operatorClient = Optional.empty();

    World() {
      InstalledOperator.installCrds(client);
      client
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
          .create();
    }

    void start() {
      KubernetesClient forOperator = client(server);
      operatorClient = Optional.of(forOperator);
      program =
          Optional.of(
              OperatorProgram.start(
                  forOperator,
                  new OperatorOptions(
                      Optional.empty(), Optional.of("image:one"), Optional.empty(), false),
                  Map.of("WATCH_NAMESPACE", NAMESPACE),
                  Clock.systemUTC()));
    }

    /** In every other life events come late and more than once, too. */
    void disturb(int number, Moment moment) {
      if (moment == Moment.AFTER) {
        server.faults().follow(new RandomFaults(number, 0, 150));
      }
    }

    void stop() {
      program.orElseThrow().close();
      operatorClient.orElseThrow().close();
    }

    String phase() {
      return client
          .resources(PmemCSIDeployment.class)
          .withName(NAME)
          .get()
          .getStatus()
          .phaseOrNew();
    }

    /** A driver that is there before anything happens to it. */
    void install() {
      start();
      create();
      awaitSettled(1);
      awaitQuiet();
    }

    /** Events follow on the status: what comes then is not the operator's answer to a change. */
    private void awaitQuiet() {
      await()
          .until(
              () -> {
                int before = server.requests().writes().size();
                Thread.sleep(300);
                return server.requests().writes().size() == before;
              });
    }

    void create() {
      client.resource(new Rendering().read(FULL)).create();
    }

    void update() {
      var changed = (PmemCSIDeployment) new Rendering().read(CHANGED);
      client
          .resources(PmemCSIDeployment.class)
          .withName(NAME)
          .edit(
              resource -> {
                resource.setSpec(changed.getSpec());
                return resource;
              });
    }

    void delete() {
      client.resources(PmemCSIDeployment.class).withName(NAME).delete();
    }

    boolean gone() {
      return client.resources(PmemCSIDeployment.class).withName(NAME).get() == null;
    }

    void retrying(Runnable action) {
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                try {
                  action.run();
                  return true;
                } catch (RuntimeException e) {
                  return e.getMessage() != null && e.getMessage().contains("already exists");
                }
              });
    }

    /** The user's own write is the first one, and starts the operator's work. */
    void killAtWrite(int number, Moment moment, long generation, Runnable action) {
      killAtWrite(number, moment, action, () -> settled(generation));
    }

    void killAtWrite(int number, Moment moment, Runnable action, BooleanSupplier done) {
      server.faults().cutOffAtWrite(number + 1, moment);
      action.run();
      // a run may need one write less than another, when two changes are seen at once
      await()
          .ignoreExceptions()
          .atMost(Duration.ofSeconds(20))
          .until(() -> server.faults().isCutOff() || done.getAsBoolean());
      program.orElseThrow().close();
      operatorClient.orElseThrow().close();
      server.faults().release();
    }

    void awaitSettled(long generation) {
      await().ignoreExceptions().atMost(Duration.ofSeconds(30)).until(() -> settled(generation));
    }

    private boolean settled(long generation) {
      if (server.faults().isCutOff()) {
        return false;
      }
      var resource = client.resources(PmemCSIDeployment.class).withName(NAME).get();
      return Long.valueOf(generation).equals(resource.getStatus().observedGeneration())
          && resource.getStatus().phaseOrNew().equals("Initializing");
    }

    Map<String, String> snapshot() {
      return Snapshot.of(client, NAMESPACE, H, NAME);
    }

    /** How many writes of the operator follow on one of the user. */
    int writesAfter(Runnable action, long generation) {
      return writesAfter(action, () -> settled(generation));
    }

    int writesAfter(Runnable action, BooleanSupplier done) {
      server.requests().clear();
      action.run();
      await().ignoreExceptions().atMost(Duration.ofSeconds(30)).until(done::getAsBoolean);
      awaitQuiet();
      return server.requests().writes().size() - 1;
    }

    List<String> events() {
      return client.v1().events().inNamespace("default").list().getItems().stream()
          .map(Event::getReason)
          .toList();
    }

    @Override
    public void close() {
      program.ifPresent(OperatorProgram::close);
      operatorClient.ifPresent(KubernetesClient::close);
      client.close();
      server.close();
    }

    private static KubernetesClient client(EmbeddedKubernetes server) {
      Config config =
          new ConfigBuilder(Config.empty())
              .withMasterUrl(server.url().toString())
              .withRequestRetryBackoffLimit(0)
              .build();
      return new KubernetesClientBuilder().withConfig(config).build();
    }
  }
}
