package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * Clients that share what Jackson has learnt of the types of Kubernetes. Each would otherwise learn
 * it again, and that is a fifth of the work of a test that starts an operator.
 */
public final class Clients {

  private static final KubernetesSerialization TYPES = new KubernetesSerialization();

  private Clients() {}

  /** A client in the making. */
  public static KubernetesClientBuilder to(Config config) {
    return new KubernetesClientBuilder().withConfig(config).withKubernetesSerialization(TYPES);
  }
}
