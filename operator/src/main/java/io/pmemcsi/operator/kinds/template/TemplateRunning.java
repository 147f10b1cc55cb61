package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What runs of a driver.
 *
 * @param nodeUpdate how far the nodes are updated; empty if that was not observed
 * @param requeueAfter when to continue the update of the nodes, or to observe pods again: a
 *     container that fails does not change the counts of its workload
 */
record TemplateRunning(
    Availability availability, Optional<NodeUpdate> nodeUpdate, Optional<Duration> requeueAfter) {

  static TemplateRunning of(Availability availability, Optional<NodeUpdates.Progress> progress) {
    return new TemplateRunning(
        availability,
        progress.map(NodeUpdates.Progress::status),
        Stream.of(
                progress.flatMap(NodeUpdates.Progress::requeueAfter),
                availability.awaitsPods()
                    ? Optional.of(RequeuePeriods.DEFAULT.pods())
                    : Optional.<Duration>empty())
            .flatMap(Optional::stream)
            .min(Duration::compareTo));
  }
}
