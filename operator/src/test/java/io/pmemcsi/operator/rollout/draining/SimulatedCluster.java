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
 * disruption budgets, all of which take their time; and with users who interfere.
 */
final class SimulatedCluster {

  /** The state of one node. */
  static final class Machine {
    final String name;
    boolean ready = true;
    boolean desired = true;
    boolean cordoned;
    boolean cordonedByUser;
    boolean otherDriverNeedsCordon;
    Optional<DrainAnnotation> annotation = Optional.empty();
    int version;
    String driverRevision = TestNodes.OLD;
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
    int terminatesIn = -1;

    Application(String name, Origin origin) {
      this.name = name;
      this.origin = origin;
    }
  }

  final TreeMap<String, Machine> machines = new TreeMap<>();
  final List<String> violations = new ArrayList<>();
  private final Random random;
  Instant now = Instant.parse("2026-01-01T00:00:00Z");
  String revision = TestNodes.NEW;
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
        machine.cordonedByUser = true;
      }
    }
  }

  private Origin origin() {
    return switch (random.nextInt(12)) {
      case 0 -> Origin.UNMANAGED;
      case 1 -> Origin.DAEMON_SET;
      default -> Origin.CONTROLLER;
    };
  }

  NodeSnapshot snapshot() {
    return new NodeSnapshot(
        TestNodes.DRIVER,
        TestNodes.OWNER,
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
        machine.desired,
        machine.cordoned,
        machine.annotation,
        machine.otherDriverNeedsCordon,
        machine.desired ? List.of(driver) : List.of(),
        machine.pods.stream()
            .map(
                pod ->
                    new VolumeConsumer(
                        "shop", pod.name, pod.name, pod.origin, pod.terminatesIn >= 0))
            .toList(),
        machine.detachIn > 0 ? List.of("volume") : List.of(),
        machine.registered);
  }

  /** Executes an action as the API server would, and records violations. */
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
          machine.annotation = Optional.of(cordon.annotation());
          machine.version++;
        }
      }
      case DrainAction.SetStep setStep -> {
        if (!stale) {
          machine.annotation = Optional.of(setStep.annotation());
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
          if (!machine.cordoned || machine.annotation.isEmpty()) {
            violations.add("driver restarted on a node that is not cordoned: " + machine.name);
          }
          machine.driverTerminating = true;
          machine.driverStartsIn = 1 + random.nextInt(4);
        }
      }
      case DrainAction.Uncordon uncordon -> {
        if (!stale) {
          machine.annotation = Optional.empty();
          machine.version++;
          if (uncordon.schedulable()) {
            if (machine.cordonedByUser || machine.otherDriverNeedsCordon) {
              violations.add("cordon of a user removed on " + machine.name);
            }
            machine.cordoned = false;
          }
        }
      }
    }
  }

  private void evict(Machine machine, Application pod, boolean evictUnmanaged) {
    if (machine.annotation.isEmpty() || !machine.ready) {
      violations.add("evicted from a node that is not in progress or not ready: " + machine.name);
    }
    if (pod.origin != Origin.CONTROLLER && !(pod.origin == Origin.UNMANAGED && evictUnmanaged)) {
      violations.add("evicted although not configured: " + pod.name);
    }
    if (!budgetBlocks && pod.terminatesIn < 0) {
      pod.terminatesIn = random.nextInt(4);
    }
  }

  /** Time passes: kubelets and controllers make progress. */
  void tick(Duration step) {
    now = now.plus(step);
    var unscheduled = new ArrayList<Application>();
    for (Machine machine : machines.values()) {
      if (!machine.ready) {
        continue;
      }
      machine.pods.removeIf(
          pod -> {
            boolean ended = pod.terminatesIn == 0;
            if (ended && pod.origin == Origin.CONTROLLER) {
              unscheduled.add(new Application("app-" + applications++, pod.origin));
            }
            if (ended) {
              machine.detachIn = 1 + random.nextInt(3);
            }
            return ended;
          });
      machine.pods.stream().filter(pod -> pod.terminatesIn > 0).forEach(pod -> pod.terminatesIn--);
      if (machine.detachIn > 0 && machine.pods.isEmpty()) {
        machine.detachIn--;
      }
      runDriver(machine);
    }
    unscheduled.forEach(this::schedule);
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
        machines.values().stream().filter(m -> m.ready && !m.cordoned && m.desired).toList();
    if (!open.isEmpty()) {
      Machine machine = open.get(random.nextInt(open.size()));
      machine.pods.add(pod);
      machine.detachIn = Math.max(machine.detachIn, 1);
    }
  }

  /** A user or a failure interferes. */
  void interfere() {
    var all = new ArrayList<>(machines.values());
    Machine machine = all.get(random.nextInt(all.size()));
    switch (random.nextInt(10)) {
      case 0 -> machine.ready = !machine.ready;
      case 1 -> budgetBlocks = !budgetBlocks;
      case 2 -> {
        if (machine.cordoned && !machine.cordonedByUser) {
          machine.cordoned = false;
          machine.version++;
        }
      }
      case 3 -> {
        // a cordon on top of the operator's cannot be distinguished from it
        if (!machine.cordoned && machine.annotation.isEmpty()) {
          machine.cordoned = true;
          machine.cordonedByUser = true;
          machine.version++;
        }
      }
      case 4 -> revision = revision.equals(TestNodes.NEW) ? "newer" : TestNodes.NEW;
      case 5 -> schedule(new Application("app-" + applications++, Origin.CONTROLLER));
      case 6 -> machine.version++;
      case 7 -> {
        if (machines.size() > 2) {
          machines.remove(machine.name);
        }
      }
      case 8 -> machine.desired = !machine.desired;
      // some end by themselves; their volumes stay mounted for a while
      case 9 ->
          machine.pods.stream()
              .filter(pod -> pod.terminatesIn < 0)
              .forEach(pod -> pod.terminatesIn = random.nextInt(6));
      default -> throw new IllegalStateException();
    }
  }

  /** Repairs all failures; users delete pods that cannot be evicted. */
  void repair() {
    budgetBlocks = false;
    for (Machine machine : machines.values()) {
      machine.ready = true;
      machine.pods.stream()
          .filter(pod -> pod.origin != Origin.CONTROLLER && pod.terminatesIn < 0)
          .forEach(pod -> pod.terminatesIn = 0);
    }
  }
}
