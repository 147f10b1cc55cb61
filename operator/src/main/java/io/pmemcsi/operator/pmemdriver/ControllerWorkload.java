package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.pmemcsi.operator.controller.ClusterReader;
import java.util.Optional;

/** The type of object that runs the controller's pods. */
public enum ControllerWorkload {
  DEPLOYMENT(Deployment.class, "deployment"),
  STATEFUL_SET(StatefulSet.class, "stateful set");

  private final Class<? extends HasMetadata> type;
  private final String description;

  ControllerWorkload(Class<? extends HasMetadata> type, String description) {
    this.type = type;
    this.description = description;
  }

  String description() {
    return description;
  }

  /** Whether nodes register with the controller, because it creates their volumes. */
  boolean hasRegistry() {
    return this == STATEFUL_SET;
  }

  Optional<? extends HasMetadata> find(PmemNames names, ClusterReader<?> cluster) {
    return cluster.owned(type, names.controller());
  }
}
