package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes out the protocol of ports. It is part of the key by which server-side apply tells ports
 * apart, and API servers before 1.21 refuse ports that leave it to the default (kubernetes issue
 * 92332).
 */
final class PortProtocols {

  static final String DEFAULT = "TCP";

  private PortProtocols() {}

  static void fillIn(HasMetadata object) {
    switch (object) {
      case Service service when service.getSpec() != null ->
          service
              .getSpec()
              .getPorts()
              .forEach(
                  port -> {
                    if (port.getProtocol() == null) {
                      port.setProtocol(DEFAULT);
                    }
                  });
      case Deployment workload when workload.getSpec() != null ->
          fillIn(workload.getSpec().getTemplate());
      case DaemonSet workload when workload.getSpec() != null ->
          fillIn(workload.getSpec().getTemplate());
      case StatefulSet workload when workload.getSpec() != null ->
          fillIn(workload.getSpec().getTemplate());
      default -> {}
    }
  }

  private static void fillIn(@Nullable PodTemplateSpec template) {
    if (template == null || template.getSpec() == null) {
      return;
    }
    fillIn(template.getSpec().getContainers());
    fillIn(template.getSpec().getInitContainers());
  }

  private static void fillIn(List<Container> containers) {
    containers.forEach(
        container ->
            container
                .getPorts()
                .forEach(
                    port -> {
                      if (port.getProtocol() == null) {
                        port.setProtocol(DEFAULT);
                      }
                    }));
  }
}
