package io.pmemcsi.operator.rollout.draining;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Builds nodes for tests. */
final class TestNodes {

  static final String OLD = "old";
  static final String NEW = "new";
  static final String OWNER = "uid-1";
  static final String DRIVER = "csi.example.com";

  private TestNodes() {}

  static NodeSnapshot snapshot(WorkerNode... nodes) {
    return new NodeSnapshot(DRIVER, OWNER, "shop/driver", Optional.of(NEW), List.of(nodes));
  }

  static Node node(String name) {
    return new Node(name);
  }

  /** A ready node with an outdated, unused driver by default. */
  static final class Node {
    private final String name;
    private boolean ready = true;
    private boolean desired = true;
    private boolean cordoned;
    private Optional<DrainAnnotation> annotation = Optional.empty();
    private boolean shared;
    private final List<DriverPod> driverPods = new ArrayList<>();
    private final List<VolumeConsumer> consumers = new ArrayList<>();
    private final List<String> mounted = new ArrayList<>();
    private boolean registered = true;

    private Node(String name) {
      this.name = name;
      driverPods.add(driver(name, OLD, true, false));
    }

    Node updated() {
      return driverPods(driver(name, NEW, true, false));
    }

    Node driverPods(DriverPod... pods) {
      driverPods.clear();
      driverPods.addAll(List.of(pods));
      return this;
    }

    Node notReady() {
      ready = false;
      return this;
    }

    Node unmatched() {
      desired = false;
      return this;
    }

    Node cordoned() {
      cordoned = true;
      return this;
    }

    Node shared() {
      shared = true;
      return this;
    }

    Node unregistered() {
      registered = false;
      return this;
    }

    Node annotation(DrainAnnotation found) {
      annotation = Optional.of(found);
      return this;
    }

    Node user(String pod, VolumeConsumer.Origin origin) {
      consumers.add(new VolumeConsumer("shop", pod, "uid-" + pod, origin, false));
      return this;
    }

    Node terminating(String pod) {
      consumers.add(
          new VolumeConsumer("shop", pod, "uid-" + pod, VolumeConsumer.Origin.CONTROLLER, true));
      return this;
    }

    Node mounted(String volume) {
      mounted.add(volume);
      return this;
    }

    WorkerNode build() {
      return new WorkerNode(
          name,
          "1",
          ready,
          desired,
          cordoned,
          annotation,
          shared,
          driverPods,
          consumers,
          mounted,
          registered);
    }
  }

  static DriverPod driver(String node, String revision, boolean ready, boolean terminating) {
    String name = "driver-" + node + "-" + revision;
    return new DriverPod("shop", name, "uid-" + name, revision, ready, terminating);
  }
}
