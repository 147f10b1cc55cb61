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
import io.pmemcsi.operator.kinds.pmem.PmemKind;
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
 * The operator is killed at every single write and started again: the end is always the same. All
 * points, on the embedded API.
 */
class CrashIT {

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final int SEEDS = CAMPAIGN ? 2_000 : 2;
  private static final int AT_ONCE = 6;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String NAMESPACE = EmbeddedWorld.NAMESPACE;
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

  /** What an undisturbed life looks like: states, and how many writes lead to each. */
  private record Life(
      int creation,
      Map<String, String> created,
      int update,
      Map<String, String> updated,
      int restoration,
      int deletion) {

    static Life live() {
      try (var world = new World()) {
        world.embedded.start();
        int creation = world.writesAfter(world::create, () -> world.settled(1));
        Map<String, String> created = world.snapshot();
        int update = world.writesAfter(world::update, () -> world.settled(2));
        Map<String, String> updated = world.snapshot();
        int restoration = world.writesAfter(world::restore, () -> world.settled(3));
        assertThat(world.snapshot()).isEqualTo(created);
        int deletion = world.writesAfter(world::delete, world::gone);
        assertThat(world.snapshot()).isEmpty();
        return new Life(creation, created, update, updated, restoration, deletion);
      }
    }

    int longest() {
      return IntStream.of(creation, update, restoration, deletion).max().orElseThrow();
    }
  }

  private static Life life;

  @BeforeAll
  static void live() {
    life = Life.live();
    assertThat(life.created()).hasSizeGreaterThan(20);
    assertThat(life.updated().keySet()).noneMatch(name -> name.startsWith("Deployment"));
    assertThat(life.deletion()).isGreaterThan(20);
  }

  /** What the operator that comes after a dead one sees of the cluster. */
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
   * One life per number: it is created, changed to something smaller and back, and deleted, and
   * each time the operator dies after the write of that number, if there is one, and with number 0
   * before it has written anything. To die before a write is to die after the one before it, so
   * these are all states in which an operator can die.
   *
   * @param first what the next operator sees: events get lost, or come late and more than once all
   *     the time, by turns; a campaign tries both at each write
   */
  @ParameterizedTest
  @MethodSource("turns")
  void everyLifeGoesThroughTheSameStatesWhereverItIsInterrupted(Events first) {
    atEach(
        IntStream.rangeClosed(0, life.longest()),
        n -> {
          Events events = first.by(n);
          String point = "killed after write %d, events %s".formatted(n, events);
          try (var world = new World()) {
            if (events == Events.LATE) {
              world.embedded.faults().follow(new RandomFaults(n, 0, 150));
            }
            world.embedded.start();
            world.live(n <= life.creation(), n, events, world::create, () -> world.settled(1));
            await("created, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.created()));
            assertThat(world.events()).as(point).containsExactly("NewDeployment");

            world.live(n <= life.update(), n, events, world::update, () -> world.settled(2));
            await("changed, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.updated()));

            world.live(n <= life.restoration(), n, events, world::restore, () -> world.settled(3));
            await("changed back, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.created()));

            world.live(n <= life.deletion(), n, events, world::delete, world::gone);
            await("deleted, " + point)
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.snapshot()).isEmpty());
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
                  new ClusterProbe(world.client()).facts(NAMESPACE, EmbeddedWorld.IMAGE));
    }
    assertThat(wanted).hasSizeGreaterThan(15);
    atEach(
        IntStream.rangeClosed(1, wanted.size()),
        n -> {
          HasMetadata foreign = wanted.get(n - 1);
          try (var world = new World()) {
            var faults = world.embedded.faults();
            var appearing = new AtomicBoolean();
            var appeared = new CountDownLatch(1);
            faults.onWrite(
                write -> {
                  if (!write.verb().equals("create")
                      || !write.plural().equals(foreign.getPlural())
                      || !PmemKind.FIELD_MANAGER.equals(write.query().get("fieldManager"))) {
                    return;
                  }
                  if (appearing.compareAndSet(false, true)) {
                    world.client().resource(foreign).create();
                    faults.cutOffAtWrite(2, Moment.AFTER);
                    appeared.countDown();
                  } else {
                    // objects are created concurrently: this one may be it
                    awaitLatch(appeared);
                  }
                });
            world.embedded.start();
            world.create();
            await().atMost(LIMIT).until(() -> appeared.getCount() == 0);
            world.embedded.stop();
            faults.clear();
            world.embedded.start();
            await(foreign.getKind())
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(world.phase()).isEqualTo("Failed"));
            HasMetadata kept = world.client().resource(foreign).get();
            assertThat(kept.getMetadata().getOwnerReferences()).isEmpty();
            assertThat(kept.getMetadata().getManagedFields())
                .noneMatch(entry -> PmemKind.FIELD_MANAGER.equals(entry.getManager()));
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

  /** Several at once: each spends most of its time waiting. */
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
  void failingRequestsAndLateOrRepeatedEventsDoNotChangeTheEnd(long seed) {
    try (var world = new World()) {
      world.embedded.start();
      world.embedded.faults().follow(new RandomFaults(seed, 150, 150));
      world.retrying(world::create);
      world.retrying(world::update);
      await("seed " + seed)
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.updated()));
      world.retrying(world::delete);
      await("deleted, seed " + seed)
          .ignoreExceptions()
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
    try (var world = new World()) {
      world.embedded.start();
      world.embedded.faults().follow(RandomFaults.lossy(seed, 0, 300));
      world.create();
      world.retrying(world::update);
      // long enough to act on what it sees, short enough to be in the middle of it
      await().pollDelay(Duration.ofMillis(300)).until(() -> true);
      world.embedded.renewWatches();

      await("seed " + seed)
          .untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.updated()));
    }
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  @Test
  void missedEventsAreMadeUpForWhenTheWatchIsRenewed() {
    try (var world = new World()) {
      world.embedded.start();
      world.create();
      await().ignoreExceptions().atMost(LIMIT).until(() -> world.settled(1));
      world.embedded.awaitQuiet();
      world.embedded.renewWatches();
      world.client().apps().daemonSets().inNamespace(NAMESPACE).withName(H + "-node").delete();

      await().untilAsserted(() -> assertThat(world.snapshot()).isEqualTo(life.created()));
    }
  }

  /** One resource on an embedded cluster, and what happens to it. */
  private record World(EmbeddedWorld embedded) implements AutoCloseable {

    World() {
      this(new EmbeddedWorld());
    }

    KubernetesClient client() {
      return embedded.client();
    }

    /** Something that a user does, and the operator's answer, with or without an interruption. */
    void live(boolean killed, int number, Events events, Runnable action, BooleanSupplier done) {
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
      awaitThat("done with it: write %d, events %s".formatted(number, events), done);
    }

    private void awaitThat(String what, BooleanSupplier reached) {
      try {
        await(what).ignoreExceptions().atMost(LIMIT).until(reached::getAsBoolean);
      } catch (ConditionTimeoutException e) {
        throw new AssertionError("%s; %s".formatted(e.getMessage(), embedded.situation()), e);
      }
    }

    /**
     * The user's own write is the first one, and starts the operator's work. What the operator
     * writes before it, on a machine so busy that it only seemed quiet, does not count.
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
      // a run may need one write less than another, when two changes are seen at once
      awaitThat("at write " + number, () -> faults.isCutOff() || done.getAsBoolean());
      embedded.stop();
      faults.release();
    }

    /** An operator at rest writes to the resource only its status. */
    private static boolean isOfTheUser(SeenRequest write) {
      return write.plural().equals(HasMetadata.getPlural(PmemCSIDeployment.class))
          && write.subresource().isEmpty();
    }

    private void startMissingEvents(int seed) {
      embedded.faults().follow(RandomFaults.lossy(seed, 0, 300));
      embedded.start();
      // long enough to act on what it sees, short enough to be in the middle of it
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

    boolean gone() {
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

    /** How many writes of the operator follow on one of the user. */
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
