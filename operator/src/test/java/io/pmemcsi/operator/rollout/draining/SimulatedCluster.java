package io.pmemcsi.operator.rollout.draining;

import io.pmemcsi.operator.rollout.draining.VolumeConsumer.Origin;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * A cluster in memory with kubelets, a DaemonSet controller, an attach controller, a scheduler and
 * disruption budgets, all of which take their time; and with people who interfere.
 */
final class SimulatedCluster {

  /** One node, with what is true on it. */
  static final class Machine {
    final String name;
    boolean ready = true;
    boolean wanted = true;
    boolean cordoned;
    boolean cordonedByPeople;
    boolean otherDriverNeedsCordon;
    Optional<DrainAnnotation> mark = Optional.empty();
    int version;
    String driverRevision = World.OLD;
    int driverUid;
    int driverStartsIn;
    boolean driverTerminating;
    boolean registered = true;
    int detachIn;
    final List<Application> pods = new ArrayList<>();

    Machine(String name) {
      this.name = name;
    }

    boolean isUsed() {
      return !pods.isEmpty() || detachIn > 0;
    }
  }

  /** A pod with a volume. */
  static final class Application {
    final String name;
    final Origin origin;
    int leavesIn = -1;

    Application(String name, Origin origin) {
      this.name = name;
      this.origin = origin;
    }
  }

  final TreeMap<String, Machine> machines = new TreeMap<>();
  final List<String> violations = new ArrayList<>();
  private final Random random;
  Instant now = Instant.parse("2026-01-01T00:00:00Z");
  String revision = World.NEW;
  boolean budgetBlocks;
  private int applications;
  private int uids;

  SimulatedCluster(Random random, int size) {
    this.random = random;
    for (int i = 0; i < size; i++) {
      var machine = new Machine("n" + i);
      machines.put(machine.name, machine);
      for (int pod = random.nextInt(3); pod > 0; pod--) {
        machine.pods.add(new Application("app-" + applications++, origin()));
      }
      if (random.nextInt(6) == 0) {
        machine.cordoned = true;
        machine.cordonedByPeople = true;
      }
    }
  }

  private Origin origin() {
    return switch (random.nextInt(12)) {
      case 0 -> Origin.NOBODY;
      case 1 -> Origin.DAEMON_SET;
      default -> Origin.CONTROLLER;
    };
  }

  NodeSnapshot fleet() {
    return new NodeSnapshot(
        World.DRIVER,
        World.OWNER,
        "shop/driver",
        Optional.of(revision),
        machines.values().stream().map(this::node).toList());
  }

  private WorkerNode node(Machine machine) {
    var driver =
        new DriverPod(
            "shop",
            "driver-" + machine.driverUid,
            "uid-" + machine.driverUid,
            machine.driverRevision,
            machine.ready && machine.driverStartsIn == 0,
            machine.driverTerminating);
    return new WorkerNode(
        machine.name,
        String.valueOf(machine.version),
        machine.ready,
        machine.wanted,
        machine.cordoned,
        machine.mark,
        machine.otherDriverNeedsCordon,
        machine.wanted ? List.of(driver) : List.of(),
        machine.pods.stream()
            .map(
                pod ->
                    new VolumeConsumer("shop", pod.name, pod.name, pod.origin, pod.leavesIn >= 0))
            .toList(),
        machine.detachIn > 0 ? List.of("volume") : List.of(),
        machine.registered);
  }

  /** Does an action as the API server would, and notes what must never happen. */
  void act(DrainAction action, boolean evictUnmanaged) {
    Machine machine = machines.get(action.node().name());
    if (machine == null) {
      return;
    }
    boolean stale = !action.node().version().equals(String.valueOf(machine.version));
    switch (action) {
      case DrainAction.Cordon cordon -> {
        if (!stale) {
          machine.cordoned = true;
          machine.mark = Optional.of(cordon.mark());
          machine.version++;
        }
      }
      case DrainAction.Enter enter -> {
        if (!stale) {
          machine.mark = Optional.of(enter.mark());
          machine.version++;
        }
      }
      case DrainAction.Evict evict ->
          machine.pods.stream()
              .filter(pod -> pod.name.equals(evict.pod().uid()))
              .forEach(pod -> evict(machine, pod, evictUnmanaged));
      case DrainAction.RestartDriver restart -> {
        if (restart.pod().uid().equals("uid-" + machine.driverUid)) {
          if (!machine.ready) {
            violations.add("driver restarted on a node that is not ready: " + machine.name);
          }
          if (machine.isUsed()) {
            violations.add("driver restarted under volumes on " + machine.name);
          }
          if (!machine.cordoned || machine.mark.isEmpty()) {
            violations.add("driver restarted on a node that is not cordoned: " + machine.name);
          }
          machine.driverTerminating = true;
          machine.driverStartsIn = 1 + random.nextInt(4);
        }
      }
      case DrainAction.Uncordon uncordon -> {
        if (!stale) {
          machine.mark = Optional.empty();
          machine.version++;
          if (uncordon.schedulable()) {
            if (machine.cordonedByPeople || machine.otherDriverNeedsCordon) {
              violations.add("cordon of others lifted on " + machine.name);
            }
            machine.cordoned = false;
          }
        }
      }
    }
  }

  private void evict(Machine machine, Application pod, boolean evictUnmanaged) {
    if (machine.mark.isEmpty() || !machine.ready) {
      violations.add("evicted from a node that is not worked on or not ready: " + machine.name);
    }
    if (pod.origin != Origin.CONTROLLER && !(pod.origin == Origin.NOBODY && evictUnmanaged)) {
      violations.add("evicted although nobody asked for it: " + pod.name);
    }
    if (!budgetBlocks && pod.leavesIn < 0) {
      pod.leavesIn = random.nextInt(4);
    }
  }

  /** A second passes: kubelets and controllers do a bit of their work. */
  void tick(Duration step) {
    now = now.plus(step);
    var homeless = new ArrayList<Application>();
    for (Machine machine : machines.values()) {
      if (!machine.ready) {
        continue;
      }
      machine.pods.removeIf(
          pod -> {
            boolean gone = pod.leavesIn == 0;
            if (gone && pod.origin == Origin.CONTROLLER) {
              homeless.add(new Application("app-" + applications++, pod.origin));
            }
            if (gone) {
              machine.detachIn = 1 + random.nextInt(3);
            }
            return gone;
          });
      machine.pods.stream().filter(pod -> pod.leavesIn > 0).forEach(pod -> pod.leavesIn--);
      if (machine.detachIn > 0 && machine.pods.isEmpty()) {
        machine.detachIn--;
      }
      runDriver(machine);
    }
    homeless.forEach(this::schedule);
  }

  private void runDriver(Machine machine) {
    if (machine.driverTerminating) {
      machine.driverTerminating = false;
      machine.driverRevision = revision;
      machine.driverUid = ++uids;
      machine.registered = false;
    } else if (machine.driverStartsIn > 0) {
      machine.driverStartsIn--;
    } else if (!machine.registered) {
      machine.registered = random.nextInt(3) == 0;
    }
  }

  private void schedule(Application pod) {
    List<Machine> open =
        machines.values().stream().filter(m -> m.ready && !m.cordoned && m.wanted).toList();
    if (!open.isEmpty()) {
      Machine machine = open.get(random.nextInt(open.size()));
      machine.pods.add(pod);
      machine.detachIn = Math.max(machine.detachIn, 1);
    }
  }

  /** Somebody or something interferes. */
  void interfere() {
    var all = new ArrayList<>(machines.values());
    Machine machine = all.get(random.nextInt(all.size()));
    switch (random.nextInt(10)) {
      case 0 -> machine.ready = !machine.ready;
      case 1 -> budgetBlocks = !budgetBlocks;
      case 2 -> {
        if (machine.cordoned && !machine.cordonedByPeople) {
          machine.cordoned = false;
          machine.version++;
        }
      }
      case 3 -> {
        // nobody can tell a cordon on top of ours from ours
        if (!machine.cordoned && machine.mark.isEmpty()) {
          machine.cordoned = true;
          machine.cordonedByPeople = true;
          machine.version++;
        }
      }
      case 4 -> revision = revision.equals(World.NEW) ? "newer" : World.NEW;
      case 5 -> schedule(new Application("app-" + applications++, Origin.CONTROLLER));
      case 6 -> machine.version++;
      case 7 -> {
        if (machines.size() > 2) {
          machines.remove(machine.name);
        }
      }
      case 8 -> machine.wanted = !machine.wanted;
      // some end by themselves; what they had mounted is mounted for a while
      case 9 ->
          machine.pods.stream()
              .filter(pod -> pod.leavesIn < 0)
              .forEach(pod -> pod.leavesIn = random.nextInt(6));
      default -> throw new IllegalStateException();
    }
  }

  /** Everything that hindered is mended; people take care of pods that cannot be evicted. */
  void mend() {
    budgetBlocks = false;
    for (Machine machine : machines.values()) {
      machine.ready = true;
      machine.pods.stream()
          .filter(pod -> pod.origin != Origin.CONTROLLER && pod.leavesIn < 0)
          .forEach(pod -> pod.leavesIn = 0);
    }
  }
}
