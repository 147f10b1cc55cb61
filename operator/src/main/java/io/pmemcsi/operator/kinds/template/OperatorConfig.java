package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.operator.objects.Sidecar;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an administrator sets for all drivers together.
 *
 * @param images of sidecars, where a resource names none; others follow the version of the server
 * @param infrastructureNodeSelector for controller pods whose template has no node selector
 * @param deploymentReplicas how many controller pods run, where a resource does not say it
 * @param clusterRoleName an existing role for the accounts of controller pods, in place of the one
 *     that the operator makes
 * @param leaderElectionClusterRoleName the same for what they may do in their own namespace
 * @param kubeletRootDir the kubelet's directory on the nodes
 */
public record OperatorConfig(
    Map<Sidecar, String> images,
    Map<String, String> infrastructureNodeSelector,
    int deploymentReplicas,
    Optional<String> clusterRoleName,
    Optional<String> leaderElectionClusterRoleName,
    String kubeletRootDir) {

  /** What holds without a configuration file. */
  public static final OperatorConfig DEFAULT =
      new OperatorConfig(
          Map.of(), Map.of(), 1, Optional.empty(), Optional.empty(), "/var/lib/kubelet");

  public OperatorConfig {
    var byKind = new EnumMap<Sidecar, String>(Sidecar.class);
    byKind.putAll(images);
    images = Collections.unmodifiableMap(byKind);
    infrastructureNodeSelector =
        Collections.unmodifiableMap(new TreeMap<>(infrastructureNodeSelector));
  }
}
