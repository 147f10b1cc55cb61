package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.processing.Controller;
import io.pmemcsi.operator.controller.DriverReconciler;

/** The reconciler of one kind, and JOSDK's controller that calls it. */
record KindController<R extends CustomResource<?, S>, S>(
    DriverReconciler<R, S, ?, ?, ?> reconciler, Controller<R> controller) {

  /** Returns when the caches are filled. */
  void start() {
    controller.start(false);
  }

  void startEventProcessing() {
    controller.startEventProcessing();
  }

  void stop() {
    controller.stop();
  }

  boolean isHealthy() {
    return controller.getControllerHealthInfo().unhealthyEventSources().isEmpty();
  }

  void onServed(Class<?> type) {
    reconciler.onServed(type, controller.getEventSourceManager());
  }
}
