package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.fault.RandomFaults;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.operator.tools.render.Rendering;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kills the operator at every single write and restarts it: the final state is always the same.
 * Uses the embedded API.
 */
class CrashIT {

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final int SEEDS = CAMPAIGN ? 2_000 : 2;
  private static final int AT_ONCE = 6;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String NAMESPACE = EmbeddedTestbed.NAMESPACE;
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

  /** The states of a lifecycle without faults, and the number of writes that lead to each. */
  private record Lifecycle(
      int creation,
      Map<String, String> created,
      int update,
      Map<String, String> updated,
      int restoration,
      int deletion) {

    static Lifecycle run() {
      try (var testbed = new Testbed()) {
        testbed.embedded.start();
        int creation = testbed.writesAfter(testbed::create, () -> testbed.settled(1));
        Map<String, String> created = testbed.snapshot();
        int update = testbed.writesAfter(testbed::update, () -> testbed.settled(2));
        Map<String, String> updated = testbed.snapshot();
        int restoration = testbed.writesAfter(testbed::restore, () -> testbed.settled(3));
        assertThat(testbed.snapshot()).isEqualTo(created);
        int deletion = testbed.writesAfter(testbed::delete, testbed::isDeleted);
        assertThat(testbed.snapshot()).isEmpty();
        return new Lifecycle(creation, created, update, updated, restoration, deletion);
      }
    }

    int longest() {
      return IntStream.of(creation, update, restoration, deletion).max().orElseThrow();
    }
  }

  private static Lifecycle lifecycle;

  @BeforeAll
  static void run() {
    lifecycle = Lifecycle.run();
    assertThat(lifecycle.created()).hasSizeGreaterThan(20);
    assertThat(lifecycle.updated().keySet()).noneMatch(name -> name.startsWith("Deployment"));
    assertThat(lifecycle.deletion()).isGreaterThan(20);
  }

  /** The events that the next operator receives after a crash. */
  enum Events {
    MISSED,
    LATE;

    Events by(int turn) {
      return turn % 2 == 0 ? this : this == MISSED ? LATE : MISSED;
    }
  }

  static Stream<Events> turns() {
    return CAMPAIGN ? Stream.of(Events.values()) : Stream.of(Events.MISSED);
  }

  /**
   * One lifecycle per number: the resource is created, updated, restored and deleted. Each time the
   * operator is killed after the write with that number, if there is one; with number 0 before its
   * first write. A crash before a write equals one after the previous write, so these are all
   * states that a crash can leave.
   *
   * @param first whether the next operator misses events or receives them late and repeatedly, in
   *     turn; a campaign tries both at each write
   */
  @ParameterizedTest
  @MethodSource("turns")
  void lifecycleReachesTheSameStatesWhereverTheOperatorIsKilled(Events first) {
    atEach(
        IntStream.rangeClosed(0, lifecycle.longest()),
        n -> {
          Events events = first.by(n);
          String point = "killed after write %d, events %s".formatted(n, events);
          try (var testbed = new Testbed()) {
            if (events == Events.LATE) {
              testbed.embedded.faults().follow(new RandomFaults(n, 0, 150));
            }
            testbed.embedded.start();
            testbed.run(
                n <= lifecycle.creation(), n, events, testbed::create, () -> testbed.settled(1));
            await("created, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.created()));
            assertThat(testbed.events()).as(point).containsExactly("NewDeployment");

            testbed.run(
                n <= lifecycle.update(), n, events, testbed::update, () -> testbed.settled(2));
            await("changed, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.updated()));

            testbed.run(
                n <= lifecycle.restoration(),
                n,
                events,
                testbed::restore,
                () -> testbed.settled(3));
            await("changed back, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.created()));

            testbed.run(n <= lifecycle.deletion(), n, events, testbed::delete, testbed::isDeleted);
            await("deleted, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(testbed.snapshot()).isEmpty());
          }
        });
  }

  /** A user creates an object during the apply, and the operator crashes right after. */
  @Test
  void objectThatIsNotOwnedIsNeverAdopted() {
    List<HasMetadata> desired;
    try (var testbed = new Testbed()) {
      desired =
          new Rendering()
              .objects(
                  new Rendering().read(FULL),
                  new ClusterProbe(testbed.client()).facts(NAMESPACE, EmbeddedTestbed.IMAGE));
    }
    assertThat(desired).hasSizeGreaterThan(15);
    atEach(
        IntStream.rangeClosed(1, desired.size()),
        n -> {
          HasMetadata notOwned = desired.get(n - 1);
          try (var testbed = new Testbed()) {
            var faults = testbed.embedded.faults();
            var appearing = new AtomicBoolean();
            var appeared = new CountDownLatch(1);
            faults.onWrite(
                write -> {
                  if (!write.verb().equals("create")
                      || !write.plural().equals(notOwned.getPlural())
                      || !PmemDrivers.FIELD_MANAGER.equals(write.query().get("fieldManager"))) {
                    return;
                  }
                  if (appearing.compareAndSet(false, true)) {
                    testbed.client().resource(notOwned).create();
                    faults.cutOffAtWrite(2, Moment.AFTER);
                    appeared.countDown();
                  } else {
                    // objects are created concurrently: this request may be the one for the object
                    awaitLatch(appeared);
                  }
                });
            testbed.embedded.start();
            testbed.create();
            await().atMost(LIMIT).until(() -> appeared.getCount() == 0);
            testbed.embedded.stop();
            faults.clear();
            testbed.embedded.start();
            await(notOwned.getKind())
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(testbed.phase()).isEqualTo("Failed"));
            HasMetadata kept = testbed.client().resource(notOwned).get();
            assertThat(kept.getMetadata().getOwnerReferences()).isEmpty();
            assertThat(kept.getMetadata().getManagedFields())
                .noneMatch(entry -> PmemDrivers.FIELD_MANAGER.equals(entry.getManager()));
          }
        });
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs several at once: each one mostly waits. */
  private static void atEach(IntStream numbers, IntConsumer point) {
    try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
      List<Future<?>> points =
          numbers.<Future<?>>mapToObj(n -> threads.submit(() -> point.accept(n))).toList();
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
  void failedRequestsAndLateOrRepeatedEventsDoNotChangeTheFinalState(long seed) {
    try (var testbed = new Testbed()) {
      testbed.embedded.start();
      testbed.embedded.faults().follow(new RandomFaults(seed, 150, 150));
      testbed.retrying(testbed::create);
      testbed.retrying(testbed::update);
      await("seed " + seed)
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.updated()));
      testbed.retrying(testbed::delete);
      await("deleted, seed " + seed)
          .ignoreExceptions()
          .untilAsserted(
              () -> {
                assertThat(testbed.isDeleted()).isTrue();
                assertThat(testbed.snapshot()).isEmpty();
              });
    }
  }

  /** Worse than any server: events are lost and reordered until the caches list again. */
  @ParameterizedTest
  @MethodSource("seeds")
  void lostAndReorderedEventsDoNotChangeTheFinalStateAfterARelist(long seed) {
    try (var testbed = new Testbed()) {
      testbed.embedded.start();
      testbed.embedded.faults().follow(RandomFaults.lossy(seed, 0, 300));
      testbed.create();
      testbed.retrying(testbed::update);
      // long enough to start the reconciliation, short enough to interrupt it
      await().pollDelay(Duration.ofMillis(300)).until(() -> true);
      testbed.embedded.renewWatches();

      await("seed " + seed)
          .untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.updated()));
    }
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  @Test
  void missedEventsAreRecoveredByARelist() {
    try (var testbed = new Testbed()) {
      testbed.embedded.start();
      testbed.create();
      await().ignoreExceptions().atMost(LIMIT).until(() -> testbed.settled(1));
      testbed.embedded.awaitQuiet();
      testbed.embedded.renewWatches();
      testbed.client().apps().daemonSets().inNamespace(NAMESPACE).withName(H + "-node").delete();

      await().untilAsserted(() -> assertThat(testbed.snapshot()).isEqualTo(lifecycle.created()));
    }
  }

  /** One resource on an embedded cluster. */
  private record Testbed(EmbeddedTestbed embedded) implements AutoCloseable {

    Testbed() {
      this(new EmbeddedTestbed());
    }

    KubernetesClient client() {
      return embedded.client();
    }

    /** Runs an action of a user and waits for the operator, which a crash may interrupt. */
    void run(boolean killed, int number, Events events, Runnable action, BooleanSupplier done) {
      embedded.awaitQuiet();
      if (killed) {
        killAfterWrite(number, action, done);
        switch (events) {
          case MISSED -> startMissingEvents(number);
          case LATE -> embedded.start();
        }
      } else {
        action.run();
      }
      awaitThat("reconciled: write %d, events %s".formatted(number, events), done);
    }

    private void awaitThat(String what, BooleanSupplier reached) {
      try {
        await(what).ignoreExceptions().atMost(LIMIT).until(reached::getAsBoolean);
      } catch (ConditionTimeoutException e) {
        throw new AssertionError(
            "%s; %s".formatted(e.getMessage(), embedded.describeRequests()), e);
      }
    }

    /**
     * The user's write comes first and triggers the reconciliation. Earlier writes of the operator,
     * which a busy machine may have delayed, do not count.
     */
    private void killAfterWrite(int number, Runnable action, BooleanSupplier done) {
      Faults faults = embedded.faults();
      var begun = new AtomicBoolean();
      faults.onWrite(
          write -> {
            if (isOfTheUser(write) && begun.compareAndSet(false, true)) {
              if (number == 0) {
                faults.cutOffAtWrite(2, Moment.BEFORE);
              } else {
                faults.cutOffAtWrite(number + 1, Moment.AFTER);
              }
            }
          });
      action.run();
      // a reconciliation may need one write less when it observes two changes at once
      awaitThat("at write " + number, () -> faults.isCutOff() || done.getAsBoolean());
      embedded.stop();
      faults.release();
    }

    /** An idle operator writes only the status of the resource. */
    private static boolean isOfTheUser(SeenRequest write) {
      return write.plural().equals(HasMetadata.getPlural(PmemCSIDeployment.class))
          && write.subresource().isEmpty();
    }

    private void startMissingEvents(int seed) {
      embedded.faults().follow(RandomFaults.lossy(seed, 0, 300));
      embedded.start();
      // long enough to start the reconciliation, short enough to interrupt it
      await().pollDelay(Duration.ofMillis(200)).until(() -> true);
      embedded.renewWatches();
    }

    String phase() {
      return client()
          .resources(PmemCSIDeployment.class)
          .withName(NAME)
          .get()
          .getStatus()
          .phaseOrNew();
    }

    void create() {
      client().resource(new Rendering().read(FULL)).create();
    }

    void update() {
      change(CHANGED);
    }

    void restore() {
      change(FULL);
    }

    private void change(String to) {
      var changed = (PmemCSIDeployment) new Rendering().read(to);
      client()
          .resources(PmemCSIDeployment.class)
          .withName(NAME)
          .edit(
              resource -> {
                resource.setSpec(changed.getSpec());
                return resource;
              });
    }

    void delete() {
      client().resources(PmemCSIDeployment.class).withName(NAME).delete();
    }

    boolean isDeleted() {
      return client().resources(PmemCSIDeployment.class).withName(NAME).get() == null;
    }

    void retrying(Runnable action) {
      await()
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

    boolean settled(long generation) {
      if (embedded.faults().isCutOff()) {
        return false;
      }
      var resource = client().resources(PmemCSIDeployment.class).withName(NAME).get();
      return Long.valueOf(generation).equals(resource.getStatus().observedGeneration())
          && resource.getStatus().phaseOrNew().equals("Initializing");
    }

    Map<String, String> snapshot() {
      return Snapshot.of(client(), NAMESPACE, H, NAME);
    }

    /** The number of writes of the operator after one of the user. */
    int writesAfter(Runnable action, BooleanSupplier done) {
      int before = embedded.writes();
      action.run();
      await().ignoreExceptions().atMost(LIMIT).until(done::getAsBoolean);
      embedded.awaitQuiet();
      return embedded.writes() - before - 1;
    }

    List<String> events() {
      return client().v1().events().inNamespace("default").list().getItems().stream()
          .map(Event::getReason)
          .toList();
    }

    @Override
    public void close() {
      embedded.close();
    }
  }
}
