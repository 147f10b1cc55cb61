package io.pmemcsi.operator.facts;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.error.FatalException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What the operator knows from its own pod.
 *
 * @param environment of the process
 */
public record OwnPod(Map<String, String> environment) {

  private static final Path NAMESPACE_FILE =
      Path.of("/var/run/secrets/kubernetes.io/serviceaccount/namespace");

  public OwnPod {
    environment = Map.copyOf(environment);
  }

  /** WATCH_NAMESPACE, else that of the service account, else {@code kube-system}. */
  public String namespace() {
    return variable("WATCH_NAMESPACE").or(OwnPod::accountNamespace).orElse("kube-system");
  }

  /** Distinguishes this process from other replicas. */
  public Optional<String> name() {
    return variable("POD_NAME");
  }

  /**
   * The image of the container OPERATOR_NAME in the pod POD_NAME.
   *
   * @return empty without POD_NAME: an operator outside of a pod has no image
   */
  public Optional<String> image(KubernetesClient client, String namespace) {
    return name().map(pod -> image(client, namespace, pod));
  }

  private String image(KubernetesClient client, String namespace, String pod) {
    String container = variable("OPERATOR_NAME").orElse("pmem-csi-operator");
    return read(client, namespace, pod).getSpec().getContainers().stream()
        .filter(candidate -> candidate.getName().equals(container))
        .map(Container::getImage)
        .findFirst()
        .orElseThrow(
            () ->
                new FatalException(
                    "pod \"%s\" has no container \"%s\": set OPERATOR_NAME, or use -image"
                        .formatted(pod, container)));
  }

  private static Pod read(KubernetesClient client, String namespace, String name) {
    try {
      Pod pod = client.pods().inNamespace(namespace).withName(name).get();
      if (pod == null) {
        throw new FatalException(
            "there is no pod \"%s\" in namespace \"%s\": set POD_NAME to the operator's pod, or use"
                    .formatted(name, namespace)
                + " -image");
      }
      return pod;
    } catch (KubernetesClientException e) {
      throw new FatalException(
          ("cannot read pod \"%s\" in namespace \"%s\": %s; allow this account to get pods there,"
                  + " or name the driver image with -image")
              .formatted(name, namespace, Refusal.reason(e)),
          e);
    }
  }

  private Optional<String> variable(String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
  }

  private static Optional<String> accountNamespace() {
    try {
      return Optional.of(Files.readString(NAMESPACE_FILE).strip()).filter(ns -> !ns.isEmpty());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
