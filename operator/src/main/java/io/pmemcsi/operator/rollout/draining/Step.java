package io.pmemcsi.operator.rollout.draining;

import java.util.Arrays;
import java.util.Optional;

/** The steps of the update of one node. */
enum Step {
  /** The node is cordoned. */
  CORDONED("Cordoned"),
  /** Pods that use volumes of the driver are evicted. */
  EVICTING("Evicting"),
  /** The pods are deleted, but volumes are still mounted or attached. */
  UNMOUNTING("Unmounting"),
  /** No volume is mounted; the driver pod is replaced. */
  RESTARTING("Restarting"),
  /** The new driver pod is ready, but kubelet has not registered the driver yet. */
  REGISTERING("Registering"),
  /** The node is updated. */
  UNCORDONING("Uncordoning");

  private final String text;

  Step(String text) {
    this.text = text;
  }

  /** The value in status and annotations. */
  String text() {
    return text;
  }

  static Optional<Step> find(String text) {
    return Arrays.stream(values()).filter(step -> step.text.equals(text)).findFirst();
  }
}
