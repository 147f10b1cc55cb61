package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Secret;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the decision about a PMEM-CSI resource of any kind depends on.
 *
 * @param secrets with TLS material, by name
 * @param peers all other resources that describe PMEM-CSI drivers
 * @param nodesExclusive whether another driver shares nodes, where that was ever so
 */
public record DriverObservation(
    ClusterFacts facts,
    Map<String, Secret> secrets,
    List<PmemPeer> peers,
    Optional<DeploymentCondition> nodesExclusive,
    Instant now) {

  public DriverObservation {
    secrets = Map.copyOf(secrets);
    peers = List.copyOf(peers);
  }

  public Optional<Secret> secret(String name) {
    return Optional.ofNullable(secrets.get(name));
  }
}
