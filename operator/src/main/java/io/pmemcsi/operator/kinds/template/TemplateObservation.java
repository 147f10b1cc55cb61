package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the decision about a CSIDriverDeployment depends on.
 *
 * @param peers resources of the same kind that may need the same names
 * @param waitingPeers those of them that report a conflict already
 * @param sameDriver resources of other kinds with the same driver name
 * @param driverInUse a driver that the resource no longer names, and that volumes need
 */
record TemplateObservation(
    ClusterFacts facts,
    OperatorConfig config,
    List<CSIDriverDeployment> peers,
    Set<ResourceID> waitingPeers,
    List<HasMetadata> sameDriver,
    NameOwners owners,
    Optional<DriverInUse> driverInUse) {

  TemplateObservation {
    peers = List.copyOf(peers);
    waitingPeers = Set.copyOf(waitingPeers);
    sameDriver = List.copyOf(sameDriver);
  }

  record DriverInUse(String name, Hold hold) {}
}
