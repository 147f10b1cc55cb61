package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.usage.DriverUsage;
import java.util.List;
import java.util.Set;

/**
 * What the decision about a CSIDriverDeployment depends on.
 *
 * @param peers resources of the same kind that may need the same names
 * @param waitingPeers those of them that report a conflict already
 * @param sameDriver resources of other kinds with the same driver name
 * @param formerDrivers what uses drivers that the resource no longer names
 */
record TemplateObservation(
    ClusterFacts facts,
    OperatorConfig config,
    List<CSIDriverDeployment> peers,
    Set<ResourceID> waitingPeers,
    List<HasMetadata> sameDriver,
    NameOwners owners,
    List<DriverUsage> formerDrivers) {

  TemplateObservation {
    peers = List.copyOf(peers);
    waitingPeers = Set.copyOf(waitingPeers);
    sameDriver = List.copyOf(sameDriver);
    formerDrivers = List.copyOf(formerDrivers);
  }
}
