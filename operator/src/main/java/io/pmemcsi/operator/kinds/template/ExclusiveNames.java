package io.pmemcsi.operator.kinds.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.api.StorageClassTemplate;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a resource needs for itself alone in the whole cluster or on a node. Read from the resource
 * as it was written, valid or not.
 *
 * @param socketDirectory the driver's own directory on the nodes
 * @param directories that the user's templates mount from the node, as far as they are, or lie in,
 *     a directory for the socket of some driver
 */
record ExclusiveNames(
    String driverName,
    String socketDirectory,
    Set<String> directories,
    Set<String> storageClasses,
    List<HostPort> hostPorts) {

  private static final Pattern SLASHES = Pattern.compile("/+$");

  /** Wherever kubelet has its directory: the configuration may change later. */
  private static final Pattern SOCKET_DIRECTORY = Pattern.compile(".*/plugins/([^/]+)(/.*)?");

  /** Something that two resources need, described for users. */
  sealed interface Shared {

    String describe();

    /** The name of a driver. */
    record Driver(String name) implements Shared {
      @Override
      public String describe() {
        return "the driver name \"%s\"".formatted(name);
      }
    }

    /** The directory for the socket of a driver. */
    record Socket(String directory, String driver) implements Shared {
      @Override
      public String describe() {
        return "the socket directory " + directory;
      }
    }

    /** The name of a storage class. */
    record StorageClass(String name) implements Shared {
      @Override
      public String describe() {
        return "the storage class \"%s\"".formatted(name);
      }
    }

    /** A port of the nodes. */
    record Port(int number, String protocol) implements Shared {
      @Override
      public String describe() {
        return "the host port %d (%s)".formatted(number, protocol);
      }
    }
  }

  ExclusiveNames {
    directories = Set.copyOf(directories);
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

    boolean conflictsWith(HostPort other) {
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

  static ExclusiveNames of(CSIDriverDeployment resource, OperatorConfig config) {
    return of(resource.getSpec(), config);
  }

  static ExclusiveNames of(CSIDriverDeploymentSpec spec, OperatorConfig config) {
    String driver = Written.text(spec.driverName()).orElse("");
    var directories = new HashSet<String>();
    var ports = new ArrayList<HostPort>();
    collect(spec, spec.driverPerNodeTemplate(), true, directories, ports);
    collect(spec, spec.driverControllerTemplate(), false, directories, ports);
    var classes = new HashSet<String>();
    Optional.ofNullable(spec.storageClassTemplates()).orElse(List.of()).stream()
        .map(StorageClassTemplate::name)
        .filter(name -> !name.isEmpty())
        .forEach(classes::add);
    return new ExclusiveNames(
        driver, TemplateDriver.hostDirectory(config, driver), directories, classes, ports);
  }

  /** Two resources without a common key have no conflict. */
  List<String> keys() {
    var keys = new ArrayList<String>();
    keys.add(driverKey(driverName));
    directories.stream()
        .map(directory -> driverKey(SOCKET_DIRECTORY.matcher(directory).replaceFirst("$1")))
        .forEach(keys::add);
    storageClasses.forEach(name -> keys.add("class " + name));
    hostPorts.forEach(port -> keys.add("port " + port.protocol() + port.number()));
    return keys.stream().distinct().toList();
  }

  static String driverKey(String driver) {
    return "driver " + driver;
  }

  /** What both need. */
  List<Shared> sharedWith(ExclusiveNames other) {
    var shared = new ArrayList<Shared>();
    if (driverName.equals(other.driverName)) {
      shared.add(new Shared.Driver(driverName));
    } else if (reachesInto(other.socketDirectory)) {
      shared.add(new Shared.Socket(other.socketDirectory, other.driverName));
    } else if (other.reachesInto(socketDirectory)) {
      shared.add(new Shared.Socket(socketDirectory, driverName));
    }
    storageClasses.stream()
        .filter(other.storageClasses::contains)
        .sorted()
        .forEach(name -> shared.add(new Shared.StorageClass(name)));
    hostPorts.stream()
        .filter(port -> other.hostPorts.stream().anyMatch(port::conflictsWith))
        .map(port -> new Shared.Port(port.number(), port.protocol()))
        .distinct()
        .sorted(Comparator.comparingInt(Shared.Port::number))
        .forEach(shared::add);
    return shared;
  }

  /** Ports of a node that both templates of this resource need. */
  List<Shared.Port> sharedByTemplates() {
    return hostPorts.stream()
        .filter(HostPort::everyNode)
        .filter(
            port ->
                hostPorts.stream().anyMatch(other -> !other.everyNode && port.conflictsWith(other)))
        .map(port -> new Shared.Port(port.number(), port.protocol()))
        .distinct()
        .toList();
  }

  private boolean reachesInto(String directory) {
    return directories.stream()
        .anyMatch(one -> one.equals(directory) || one.startsWith(directory + "/"));
  }

  private static void collect(
      CSIDriverDeploymentSpec spec,
      @Nullable JsonNode template,
      boolean everyNode,
      Set<String> directories,
      List<HostPort> ports) {
    if (template == null) {
      return;
    }
    JsonNode pod = template.path("spec");
    for (JsonNode volume : pod.path("volumes")) {
      String path = volume.path("hostPath").path("path").asText("");
      String directory = SLASHES.matcher(path).replaceFirst("");
      if (SOCKET_DIRECTORY.matcher(directory).matches()) {
        directories.add(directory);
      }
    }
    var selector = new HashMap<String, String>();
    pod.path("nodeSelector")
        .properties()
        .forEach(label -> selector.put(label.getKey(), label.getValue().asText()));
    boolean hostNetwork = pod.path("hostNetwork").asBoolean();
    for (JsonNode container : longLived(pod)) {
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
      ports.add(
          new HostPort(
              "TCP",
              everyNode ? LivenessProbe.port(spec) : LivenessProbe.controllerPort(spec),
              everyNode,
              selector));
    }
  }

  /** An init container that is restarted always runs beside the others. */
  private static List<JsonNode> longLived(JsonNode pod) {
    var result = new ArrayList<JsonNode>();
    pod.path("containers").forEach(result::add);
    for (JsonNode container : pod.path("initContainers")) {
      if (container.path("restartPolicy").asText("").equals("Always")) {
        result.add(container);
      }
    }
    return result;
  }
}
