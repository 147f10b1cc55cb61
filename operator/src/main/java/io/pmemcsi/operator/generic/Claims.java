package io.pmemcsi.operator.generic;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.generic.CSIDriverDeploymentSpec;
import io.pmemcsi.api.generic.StorageClassTemplate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a resource takes for itself in the whole cluster or on a node. Read from the resource as it
 * was written, whether or not it is right otherwise.
 *
 * @param socketFolder the driver's own folder on the nodes
 * @param folders that the user's templates mount from the node
 */
record Claims(
    String driverName,
    String socketFolder,
    Set<String> folders,
    Set<String> storageClasses,
    List<HostPort> hostPorts) {

  private static final Pattern SLASHES = Pattern.compile("/+$");

  Claims {
    folders = Set.copyOf(folders);
    storageClasses = Set.copyOf(storageClasses);
    hostPorts = List.copyOf(hostPorts);
  }

  /**
   * A port of the node itself.
   *
   * @param everyNode whether it is taken on all nodes that fit, or on some of them
   */
  record HostPort(
      String protocol, int number, boolean everyNode, Map<String, String> nodeSelector) {

    boolean meets(HostPort other) {
      return protocol.equals(other.protocol)
          && number == other.number
          && (everyNode || other.everyNode)
          && nodeSelector.entrySet().stream()
              .allMatch(
                  label ->
                      other
                          .nodeSelector
                          .getOrDefault(label.getKey(), label.getValue())
                          .equals(label.getValue()));
    }
  }

  static Claims of(CSIDriverDeployment resource, OperatorConfig config) {
    CSIDriverDeploymentSpec spec = resource.getSpec();
    String driver = Written.text(spec.driverName()).orElse("");
    var folders = new HashSet<String>();
    var ports = new ArrayList<HostPort>();
    collect(spec, spec.driverPerNodeTemplate(), true, folders, ports);
    collect(spec, spec.driverControllerTemplate(), false, folders, ports);
    var classes = new HashSet<String>();
    Optional.ofNullable(spec.storageClassTemplates()).orElse(List.of()).stream()
        .map(StorageClassTemplate::name)
        .filter(name -> !name.isEmpty())
        .forEach(classes::add);
    return new Claims(driver, GenericDriver.hostFolder(config, driver), folders, classes, ports);
  }

  /** Two resources without a common key cannot be in each other's way. */
  List<String> keys() {
    var keys = new ArrayList<String>();
    keys.add("driver " + driverName);
    keys.add("folder " + socketFolder);
    folders.forEach(folder -> keys.add("folder " + folder));
    storageClasses.forEach(name -> keys.add("class " + name));
    hostPorts.stream()
        .map(port -> "port " + port.protocol() + port.number())
        .distinct()
        .forEach(keys::add);
    return keys;
  }

  /** What both want, in the words of a user. */
  List<String> sharedWith(Claims other) {
    var shared = new ArrayList<String>();
    if (driverName.equals(other.driverName)) {
      shared.add("the driver name \"%s\"".formatted(driverName));
    } else if (folders.contains(other.socketFolder)) {
      shared.add("the socket directory " + other.socketFolder);
    } else if (other.folders.contains(socketFolder)) {
      shared.add("the socket directory " + socketFolder);
    }
    storageClasses.stream()
        .filter(other.storageClasses::contains)
        .sorted()
        .forEach(name -> shared.add("the storage class \"%s\"".formatted(name)));
    hostPorts.stream()
        .filter(port -> other.hostPorts.stream().anyMatch(port::meets))
        .map(port -> "the host port %d (%s)".formatted(port.number(), port.protocol()))
        .distinct()
        .sorted()
        .forEach(shared::add);
    return shared;
  }

  private static void collect(
      CSIDriverDeploymentSpec spec,
      @Nullable JsonNode template,
      boolean everyNode,
      Set<String> folders,
      List<HostPort> ports) {
    if (template == null) {
      return;
    }
    JsonNode pod = template.path("spec");
    for (JsonNode volume : pod.path("volumes")) {
      String path = volume.path("hostPath").path("path").asText("");
      if (!path.isEmpty()) {
        folders.add(SLASHES.matcher(path).replaceFirst(""));
      }
    }
    var selector = new HashMap<String, String>();
    pod.path("nodeSelector")
        .properties()
        .forEach(label -> selector.put(label.getKey(), label.getValue().asText()));
    boolean hostNetwork = pod.path("hostNetwork").asBoolean();
    for (JsonNode container : pod.path("containers")) {
      for (JsonNode port : container.path("ports")) {
        int number = port.path("hostPort").asInt(0);
        if (number == 0 && hostNetwork) {
          number = port.path("containerPort").asInt(0);
        }
        if (number > 0) {
          ports.add(new HostPort(port.path("protocol").asText("TCP"), number, everyNode, selector));
        }
      }
    }
    if (hostNetwork && spec.probePeriodSeconds() != null) {
      ports.add(new HostPort("TCP", probePort(spec, everyNode), everyNode, selector));
    }
  }

  private static int probePort(CSIDriverDeploymentSpec spec, boolean everyNode) {
    return LivenessProbe.port(spec)
        + (!everyNode && isOnHost(spec.driverPerNodeTemplate()) ? 1 : 0);
  }

  private static boolean isOnHost(@Nullable JsonNode template) {
    return template != null && template.path("spec").path("hostNetwork").asBoolean();
  }
}
