package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What the decision about a PmemCSIDeployment depends on.
 *
 * @param secrets with TLS material, by name
 * @param webhookHasAnswered so that pods may depend on it
 * @param webhook as it is now
 */
record PmemObservation(
    ClusterFacts facts,
    Map<String, Secret> secrets,
    boolean webhookHasAnswered,
    Optional<MutatingWebhookConfiguration> webhook,
    Instant now) {

  PmemObservation {
    secrets = Map.copyOf(secrets);
  }

  Optional<Secret> secret(String name) {
    return Optional.ofNullable(secrets.get(name));
  }
}
