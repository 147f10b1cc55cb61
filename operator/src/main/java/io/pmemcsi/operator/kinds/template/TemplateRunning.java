package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import java.time.Duration;
import java.util.Optional;

/**
 * What runs of a driver.
 *
 * @param nodeUpdate how far the nodes are updated; empty if that was not observed
 * @param requeueAfter when to continue the update of the nodes
 */
record TemplateRunning(
    Availability availability, Optional<NodeUpdate> nodeUpdate, Optional<Duration> requeueAfter) {

  static TemplateRunning of(Availability availability, Optional<NodeUpdates.Progress> progress) {
    return new TemplateRunning(
        availability,
        progress.map(NodeUpdates.Progress::status),
        progress.flatMap(NodeUpdates.Progress::requeueAfter));
  }
}
