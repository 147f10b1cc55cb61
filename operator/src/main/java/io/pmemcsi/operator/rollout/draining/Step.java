package io.pmemcsi.operator.rollout.draining;

import java.util.Arrays;
import java.util.Optional;

/** How far the work on one node is. */
public enum Step {
  /** No new pods come to the node. */
  CORDONED("Cordoned"),
  /** Pods that use the driver's volumes are asked to leave. */
  EVICTING("Evicting"),
  /** The pods are gone, their volumes not yet. */
  UNMOUNTING("Unmounting"),
  /** Nothing is mounted; the driver pod is replaced. */
  RESTARTING("Restarting"),
  /** The new driver pod is ready, but kubelet does not know the driver yet. */
  REGISTERING("Registering"),
  /** All is done, pods may come back. */
  UNCORDONING("Uncordoning");

  private final String text;

  Step(String text) {
    this.text = text;
  }

  /** As it is written in status and annotations. */
  public String text() {
    return text;
  }

  static Optional<Step> find(String text) {
    return Arrays.stream(values()).filter(step -> step.text.equals(text)).findFirst();
  }
}
