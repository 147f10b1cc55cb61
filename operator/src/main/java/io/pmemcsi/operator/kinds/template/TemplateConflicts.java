package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Names in a user's template that the operator needs for what it adds. Found before anything is
 * created: the API server would refuse the pods only after half of the objects exist.
 *
 * @param field where the template is in the resource
 * @param mountPaths in the first container
 * @param probePort if the driver is probed
 * @param selector the label that selects the pods
 */
record TemplateConflicts(
    String field,
    List<String> volumes,
    List<String> containers,
    List<String> mountPaths,
    Optional<Integer> probePort,
    Map.Entry<String, String> selector) {

  List<String> find(PodTemplateSpec template) {
    var found = new ArrayList<String>();
    PodSpec pod = template.getSpec();
    pod.getVolumes().stream()
        .map(Volume::getName)
        .filter(volumes::contains)
        .forEach(name -> found.add(taken("volume", name)));
    allContainers(pod).stream()
        .map(Container::getName)
        .filter(containers::contains)
        .forEach(name -> found.add(taken("container", name)));
    Container first = pod.getContainers().getFirst();
    first.getVolumeMounts().stream()
        .map(VolumeMount::getMountPath)
        .filter(path -> path != null && mountPaths.contains(withoutSlash(path)))
        .forEach(
            path ->
                found.add(
                    "%s: container \"%s\" mounts something at %s, where the operator mounts the"
                            .formatted(field, first.getName(), path)
                        + " socket's or the kubelet's directory: remove that mount"));
    probePort.ifPresent(port -> probe(first, allContainers(pod), port, found));
    labels(template, found);
    return found;
  }

  private void probe(Container first, List<Container> all, int port, List<String> found) {
    if (first.getLivenessProbe() != null) {
      found.add(
          "%s: container \"%s\" has a livenessProbe of its own: remove it, or leave out"
                  .formatted(field, first.getName())
              + " probePeriodSeconds");
    }
    for (Container container : all) {
      for (ContainerPort written : container.getPorts()) {
        if (SidecarContainers.PROBE.equals(written.getName())) {
          found.add(taken("port", SidecarContainers.PROBE));
        } else if (written.getContainerPort() != null && written.getContainerPort() == port) {
          found.add(
              "%s: port %d of container \"%s\" is the one of the liveness probe: use another one,"
                      .formatted(field, port, container.getName())
                  + " or set sidecars.livenessProbe.extraArgs to [--health-port=NUMBER]");
        }
      }
    }
  }

  private void labels(PodTemplateSpec template, List<String> found) {
    if (template.getMetadata() == null || template.getMetadata().getLabels() == null) {
      return;
    }
    String written = template.getMetadata().getLabels().get(selector.getKey());
    if (written != null && !written.equals(selector.getValue())) {
      found.add(taken("label", selector.getKey()));
    }
  }

  private String taken(String what, String name) {
    return "%s: the name of %s \"%s\" is used by the operator itself: use another one"
        .formatted(field, what, name);
  }

  private static List<Container> allContainers(PodSpec pod) {
    var all = new ArrayList<>(pod.getContainers());
    all.addAll(pod.getInitContainers());
    return all;
  }

  private static String withoutSlash(String path) {
    return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
