package io.pmemcsi.operator.objects;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRuleBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPortBuilder;
import java.util.List;
import java.util.Map;

/** Policies for what reaches pods. */
public final class NetworkPolicies {

  private NetworkPolicies() {}

  /**
   * Lets pods be reached on some TCP ports only, but from anywhere: the API server, kube-scheduler
   * and kubelet call from hosts, Prometheus from a namespace of its own.
   *
   * @param pods their labels
   */
  public static NetworkPolicy ingress(
      ObjectMeta metadata, Map<String, String> pods, List<Integer> ports) {
    return new NetworkPolicyBuilder()
        .withMetadata(metadata)
        .withNewSpec()
        .withNewPodSelector()
        .withMatchLabels(pods)
        .endPodSelector()
        .withPolicyTypes("Ingress")
        .withIngress(rules(ports))
        .endSpec()
        .build();
  }

  /** A rule without ports would allow all of them. */
  private static List<NetworkPolicyIngressRule> rules(List<Integer> ports) {
    return ports.isEmpty()
        ? List.of()
        : List.of(
            new NetworkPolicyIngressRuleBuilder()
                .withPorts(ports.stream().map(NetworkPolicies::port).toList())
                .build());
  }

  private static NetworkPolicyPort port(int number) {
    return new NetworkPolicyPortBuilder()
        .withProtocol("TCP")
        .withPort(new IntOrString(number))
        .build();
  }
}
