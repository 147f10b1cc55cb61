package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import java.util.List;

/**
 * Sets the default protocol of ports. It is part of the list key of server-side apply, and API
 * servers before 1.21 reject ports that omit it (kubernetes issue 92332).
 */
final class PortProtocols {

  static final String DEFAULT = "TCP";

  private PortProtocols() {}

  static void setDefaults(HasMetadata object) {
    if (object instanceof Service service && service.getSpec() != null) {
      service.getSpec().getPorts().stream()
          .filter(port -> port.getProtocol() == null)
          .forEach(port -> port.setProtocol(DEFAULT));
    }
    PodTemplates.of(object)
        .map(PodTemplateSpec::getSpec)
        .ifPresent(
            pod -> {
              setDefaults(pod.getContainers());
              setDefaults(pod.getInitContainers());
            });
  }

  private static void setDefaults(List<Container> containers) {
    containers.stream()
        .flatMap(container -> container.getPorts().stream())
        .filter(port -> port.getProtocol() == null)
        .forEach(port -> port.setProtocol(DEFAULT));
  }
}
