package io.pmemcsi.operator.kinds.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import io.pmemcsi.api.template.StorageClassTemplate;
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
 * What a resource takes for itself in the whole cluster or on a node. Read from the resource as it
 * was written, whether or not it is right otherwise.
 *
 * @param socketFolder the driver's own folder on the nodes
 * @param folders that the user's templates mount from the node, as far as they are, or lie in, a
 *     folder for the socket of some driver
 */
record ExclusiveNames(
    String driverName,
    String socketFolder,
    Set<String> folders,
    Set<String> storageClasses,
    List<HostPort> hostPorts) {

  private static final Pattern SLASHES = Pattern.compile("/+$");

  /** Wherever kubelet has its directory: the configuration may change later. */
  private static final Pattern SOCKET_FOLDER = Pattern.compile(".*/plugins/([^/]+)(/.*)?");

  /** Something that two resources want, in the words of a user. */
  sealed interface Shared {

    String describe();

    /** The name of a driver. */
    record Driver(String name) implements Shared {
      @Override
      public String describe() {
        return "the driver name \"%s\"".formatted(name);
      }
    }

    /** The folder for the socket of a driver. */
    record Socket(String folder, String driver) implements Shared {
      @Override
      public String describe() {
        return "the socket directory " + folder;
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

  static ExclusiveNames of(CSIDriverDeployment resource, OperatorConfig config) {
    return of(resource.getSpec(), config);
  }

  static ExclusiveNames of(CSIDriverDeploymentSpec spec, OperatorConfig config) {
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
    return new ExclusiveNames(
        driver, TemplateDriver.hostFolder(config, driver), folders, classes, ports);
  }

  /** Two resources without a common key cannot be in each other's way. */
  List<String> keys() {
    var keys = new ArrayList<String>();
    keys.add(driverKey(driverName));
    folders.stream()
        .map(folder -> driverKey(SOCKET_FOLDER.matcher(folder).replaceFirst("$1")))
        .forEach(keys::add);
    storageClasses.forEach(name -> keys.add("class " + name));
    hostPorts.forEach(port -> keys.add("port " + port.protocol() + port.number()));
    return keys.stream().distinct().toList();
  }

  static String driverKey(String driver) {
    return "driver " + driver;
  }

  /** What both want. */
  List<Shared> sharedWith(ExclusiveNames other) {
    var shared = new ArrayList<Shared>();
    if (driverName.equals(other.driverName)) {
      shared.add(new Shared.Driver(driverName));
    } else if (reachesInto(other.socketFolder)) {
      shared.add(new Shared.Socket(other.socketFolder, other.driverName));
    } else if (other.reachesInto(socketFolder)) {
      shared.add(new Shared.Socket(socketFolder, driverName));
    }
    storageClasses.stream()
        .filter(other.storageClasses::contains)
        .sorted()
        .forEach(name -> shared.add(new Shared.StorageClass(name)));
    hostPorts.stream()
        .filter(port -> other.hostPorts.stream().anyMatch(port::meets))
        .map(port -> new Shared.Port(port.number(), port.protocol()))
        .distinct()
        .sorted(Comparator.comparingInt(Shared.Port::number))
        .forEach(shared::add);
    return shared;
  }

  /** Ports of a node that both templates of this resource want. */
  List<Shared.Port> sharedByTemplates() {
    return hostPorts.stream()
        .filter(HostPort::everyNode)
        .filter(port -> hostPorts.stream().anyMatch(other -> !other.everyNode && port.meets(other)))
        .map(port -> new Shared.Port(port.number(), port.protocol()))
        .distinct()
        .toList();
  }

  private boolean reachesInto(String folder) {
    return folders.stream().anyMatch(one -> one.equals(folder) || one.startsWith(folder + "/"));
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
      String folder = SLASHES.matcher(path).replaceFirst("");
      if (SOCKET_FOLDER.matcher(folder).matches()) {
        folders.add(folder);
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
